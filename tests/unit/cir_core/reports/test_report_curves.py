"""Curves are drawn where their points are."""

import plotly.graph_objects as go
import pytest

from cir_core.reports.curves import curves
from cir_core.reports.records import Estimate


def test_points_with_their_intervals():
    figure = curves("k", "T", "alt", {"a<b": [(0, Estimate(0.5, 9, 0.4, 0.7)), (1, Estimate(None, 0)),
                                             (2, Estimate(0.25, 9))]}, across="λ", axis="R@10", at=2)
    [trace] = figure.spec["data"]
    assert trace["x"] == [0, 2] and trace["y"] == [0.5, 0.25] and trace["name"] == "a&lt;b"
    assert trace["error_y"]["array"] == pytest.approx([0.2, 0]) and trace["error_y"]["arrayminus"] == pytest.approx(
        [0.1, 0])
    assert trace["hovertext"][0] == "a&lt;b<br>λ 0<br>50.0 % [40.0 %, 70.0 %]"
    assert figure.spec["layout"]["shapes"][0]["x0"] == 2
    go.Figure(figure.spec)   # refuses what plotly does not know


def test_several_curves_stand_apart_and_whole_numbers_have_ticks():
    points = [(turn, Estimate(0.1 * turn, 5)) for turn in (1, 2, 3)]
    figure = curves("k", "T", "alt", {"a": points, "b": points}, across="turn", axis="Hits@10", whole=True)
    first, second = (trace["x"] for trace in figure.spec["data"])
    # 1.2 % of the range of 2, half to either side
    assert first == pytest.approx([0.988, 1.988, 2.988]) and second == pytest.approx([1.012, 2.012, 3.012])
    assert figure.spec["layout"]["xaxis"]["tickvals"] == [1, 2, 3] and figure.spec["layout"]["showlegend"]
