"""The figure that pictures are drawn on."""

from dtnn.plots.axes import sheet


def test_it_is_saved_under_the_name_it_is_given(tmp_path):
    sheet(2.0).save(tmp_path / "picture.png")
    sheet(2.0).save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "picture.svg").read_text()
