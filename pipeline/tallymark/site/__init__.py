"""The published site: pages, charts and downloads from computed reports, swapped in only when they recount.

``build.build_site`` is the whole stage; everything heavy (pandas, jinja2, plotly, mkdocs) is imported when
it is called.
"""
