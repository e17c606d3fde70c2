"""All screens in one ``gr.Blocks``."""

from __future__ import annotations

from web.adjudicate_page import build_adjudicate_page
from web.analysis_page import build_analysis_page
from web.annotate_page import build_annotate_page
from web.event_errors import Screens
from web.log_page import build_log_page
from web.people_page import build_people_page
from web.search_tab import build_search_tab
from web.services import Services
from web.studies_page import build_studies_page
from web.study_calls import wire_study_calls

# Seconds: looked for so often, and removed when so old. The search call takes its image into the home folder at once.
_UPLOADS = (3600, 86400)


def build_demo(services: Services) -> Screens:
    """The app's pages over ``services``. No model is loaded here."""
    with Screens(title="cirque", analytics_enabled=False, fill_width=True, delete_cache=_UPLOADS) as demo:
        build_search_tab(demo, services)
        wire_study_calls(services)
    build_annotate_page(demo, services)
    build_adjudicate_page(demo, services)
    build_studies_page(demo, services)
    build_analysis_page(demo, services)
    build_people_page(demo, services)
    build_log_page(demo, services)
    return demo
