"""HP-FashionIQ's released questions as a new study: which can be asked, and who would get them."""

from annotation.kinds.preference.method_pairs import draw_pairs
from annotation.kinds.preference.sources.hp import SETS, from_hp
from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey


def test_all_questions_whose_sets_differ_can_be_asked(reference_data):
    found = from_hp(reference_data / "hp_fashioniq" / "hpfiq.json", size=None, seed=1, images=reference_data)
    assert len(found.queries) == len({query.key for query in found.queries}) == 3050
    categories = [query.category for query in found.queries]
    assert categories.count("shirt") == 1800 and categories.count("toptee") == 1250
    drawn = draw_pairs({query.key: query.results for query in found.queries}, found.methods, seed=1)
    same = [query.key for query in found.queries if set(query.results[SETS[0]]) == set(query.results[SETS[1]])]
    assert drawn.identical == tuple(same) and drawn.ruled_out == len(same) and not drawn.lacking
    assert sum(drawn.counts.values()) == 3050 - len(same) > 3000
    # As it was: 61 people with 50 questions each, nothing shared.
    assert plan_survey(3050, SurveyLayout(shared_every=0)).people == 61
