"""From a folder of histories to a page: verdict, figures, limits, pictures.

What enters: what a campaign kept. What leaves: a report in Markdown and in HTML.
Private: how a figure is measured. Everything comes from the history, so a report can be made again.
"""
