from __future__ import annotations

import pytest

from stacks.gpu_shapes import catalogue, gpu_texts, nearest_gpu_texts, nearest_shapes, shapes_with


def test_the_seoul_platforms_shape() -> None:
    shape = catalogue()["g6e.48xlarge"]
    assert (shape.gpu_text, shape.vcpus, shape.memory_gib) == ("8xL40S", 192, 1536)
    assert (shape.efa_interfaces, shape.network_gbps, shape.nvme_gb) == (4, 400, 7600)
    assert (shape.allocatable_cpu_millis, shape.allocatable_memory_mib) == (191450, 1449132)
    assert shape.dollars_per_hour == 30.13118


def test_every_family_is_there() -> None:
    families = {name.partition(".")[0] for name in catalogue()}
    assert families >= {"g4dn", "g5", "g6", "g6e", "g7e", "p4d", "p4de", "p5", "p5e", "p5en"}
    assert families >= {"p6-b200", "p6-b300"}


def test_figures_make_sense() -> None:
    for shape in catalogue().values():
        assert shape.gpus in (1, 2, 4, 8), shape
        assert shape.allocatable_cpu_millis < shape.vcpus * 1000, shape
        assert shape.allocatable_memory_mib < shape.memory_gib * 1024, shape
        assert shape.dollars_per_hour is None or shape.dollars_per_hour > 0, shape


def test_a100_says_which_memory() -> None:
    assert [shape.name for shape in shapes_with("8xA100-40GB")] == ["p4d.24xlarge"]
    assert [shape.name for shape in shapes_with("8xA100-80GB")] == ["p4de.24xlarge"]
    assert shapes_with("8xA100") == []
    assert set(nearest_gpu_texts("8xA100")) >= {"8xA100-40GB", "8xA100-80GB"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("g6e.32xlarge", "g6e.24xlarge"),
        ("g6e.0xlarge", "g6e.xlarge"),
        ("G6E.48XLARGE", "g6e.48xlarge"),
        ("g6e.48xlarg", "g6e.48xlarge"),
        ("p5.48 xlarge", "p5.48xlarge"),
        ("g6.metal", "g6.xlarge"),
        ("p5e.24xlarge", "p5e.48xlarge"),
        ("p6.48xlarge", "p6-b200.48xlarge"),
    ],
)
def test_nearest_shapes(written: str, meant: str) -> None:
    assert meant in nearest_shapes(written)


def test_nothing_is_near_to_nonsense() -> None:
    assert nearest_shapes("banana") == []


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("8 x L40S", "8xL40S"),
        ("8\N{MULTIPLICATION SIGN}l40s", "8xL40S"),
        ("6xL40S", "8xL40S"),
        ("8xL4OS", "8xL40S"),
        ("2xH100", "1xH100"),
    ],
)
def test_nearest_gpus(written: str, meant: str) -> None:
    assert meant in nearest_gpu_texts(written)


def test_gpu_texts_are_sorted_and_unique() -> None:
    texts = gpu_texts()
    assert len(texts) == len(set(texts))
    assert "8xL40S" in texts
