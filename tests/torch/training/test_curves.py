from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bertdata.torch.training import curves
from bertdata.torch.training.pretrain import pretrain
from tests.torch.training.small_runs import SETTINGS, SMALL, log

PANELS = {"a < b": {"training": [(0, 1.0), (10, 3.0)], "c": [(5, float("nan")), (7, 2.0)]}}


def texts(picture: bytes) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_names_its_panels_and_curves_and_has_the_same_bytes_each_time() -> None:
    picture = curves.draw(PANELS, x_label="step")
    assert {"a < b", "training", "c", "step"} <= {*texts(picture)}
    assert curves.draw(PANELS, x_label="step") == picture
    assert b"<dc:date>" not in picture


def test_settings_of_the_users_matplotlib_have_no_effect() -> None:
    import matplotlib as mpl

    picture = curves.draw(PANELS, x_label="step")
    with mpl.rc_context({"lines.linewidth": 9, "axes.titlesize": 40, "svg.fonttype": "path"}):
        assert curves.draw(PANELS, x_label="step") == picture


def test_losses_are_in_one_column_and_accuracies_in_another_in_percent() -> None:
    record = {"mlm_loss": 7.0, "pair_loss": 0.5, "mlm_accuracy": 0.25, "max_seq_length": 128}
    panels = curves.panels_of([{"step": 1, **record}, {"step": 2, **record}])
    assert list(panels) == ["mlm_loss", "pair_loss", "mlm_accuracy"]
    labels = texts(curves.draw(panels, x_label="step"))
    assert [label for label in labels if label in panels] == ["mlm_loss", "mlm_accuracy", "pair_loss"], "row by row"
    assert any(label.endswith("%") for label in labels)
    assert labels.count("step") == 2, "below the last panel of each column"


def test_each_phase_has_its_validation_line_where_phases_have_names() -> None:
    records = [
        {"step": 1, "mlm_loss": 9.0, "validation_mlm_loss": 8.5, "validation_128/mlm_loss": 8.5},
        {"step": 2, "mlm_loss": 8.0, "validation_mlm_loss": 8.25, "validation_512/mlm_loss": 8.25},
    ]
    assert curves.panels_of(records) == {
        "mlm_loss": {"training": [(1, 9.0), (2, 8.0)], "validation 128": [(1, 8.5)], "validation 512": [(2, 8.25)]}
    }


def test_long_logs_are_drawn_as_means_and_points_without_a_value_are_left_out() -> None:
    records = [{"step": step, "mlm_loss": float(step % 2)} for step in range(5000)]
    points = curves.panels_of(records)["mlm_loss"]["training"]
    assert len(points) == 1000
    assert points[-1][0] == 4999
    assert points[-1][1] == pytest.approx(0.6)
    assert len(curves.draw(PANELS, x_label="step")) > len(curves.draw({"a": {}}, x_label="step"))
    assert texts(curves.draw({}, x_label="step"))


@pytest.mark.usefixtures("curves_drawn")
def test_a_run_without_matplotlib_goes_on_without_curves_and_says_so_once(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, max_steps=4, save_steps=2))
    assert len(log(tmp_path)) == 4
    assert not (tmp_path / "curves.svg").exists()
    assert caplog.text.count("curves.svg is not drawn: matplotlib is not installed; get it with: pip install") == 1
