"""From a folder of histories to a page: verdict, figures, limits, pictures.

In: what a campaign kept.
Out: a report in Markdown and in HTML. Everything comes from the folder, so a report can be made again.
Kept inside: `figures`, `judging`, `plots`.
"""
