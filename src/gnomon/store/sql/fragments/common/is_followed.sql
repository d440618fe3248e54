-- Whether a program follows events. Without one, events that happen often are not written.
EXISTS (SELECT 1 FROM event_followers)
