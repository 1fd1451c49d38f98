"""Examples in docstrings, README and docs, and the notebook."""

import doctest
import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

import burnrank

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["", "._ranker", "._analysis", "._data"])
def test_docstrings(name):
    module = importlib.import_module(f"burnrank{name}")
    results = doctest.testmod(module)
    assert results.failed == 0
    if name in ("", "._ranker", "._analysis"):
        assert results.attempted > 0


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/python.md"])
def test_pages(page, files, tmp_path):
    pytest.importorskip("onnxruntime")
    code = "\n".join(blocks(page))
    assert "burnrank" in code
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / name).write_bytes(files.read_bytes())
    (tmp_path / "page.py").write_text(code)
    result = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_notebook(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("matplotlib")
    path = ROOT / "python" / "examples" / "notebook.py"
    assert path.read_text().count("# %%") >= 5
    result = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"}
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "importance.svg").exists() and (tmp_path / "model.onnx").exists()
