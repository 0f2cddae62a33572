from __future__ import annotations

from pathlib import Path

import pytest

from stacks.starter import Kind, StarterError, write_starter
from stacks.validation import validate_file


@pytest.mark.parametrize("kind", [Kind.LOCAL, Kind.EKS, Kind.KUBECONFIG])
@pytest.mark.parametrize("name", ["mine", "kube-system", "7B.Team_x", "a" * 100])
def test_a_new_stack_is_right_as_it_stands(kind: Kind, name: str, tmp_path: Path) -> None:
    file = write_starter(name, kind, folder=tmp_path)
    report = validate_file(file)
    assert report.text() == ""
    assert file.name == f"Pulumi.{name}.yaml"
    assert f"make validate STACK={name}" in file.read_text()


def test_a_team_stack_stands_on_the_only_platform(tmp_path: Path) -> None:
    write_starter("base", Kind.LOCAL, folder=tmp_path)
    report = validate_file(write_starter("team", Kind.STACK, folder=tmp_path))
    assert report.text() == ""
    assert report.stack is not None
    assert report.stack.platform is not None
    assert report.stack.config.tenants[0].name == "team"


def test_with_several_platforms_it_asks_which(tmp_path: Path) -> None:
    write_starter("one", Kind.LOCAL, folder=tmp_path)
    write_starter("two", Kind.EKS, folder=tmp_path)
    with pytest.raises(StarterError, match="add PLATFORM=<stack>, one of one, two"):
        write_starter("team", Kind.STACK, folder=tmp_path)
    assert not (tmp_path / "Pulumi.team.yaml").exists()
    file = write_starter("team", Kind.STACK, platform="two", folder=tmp_path)
    assert validate_file(file).stack is not None


def test_without_a_platform_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StarterError, match="none; make one with KIND=local"):
        write_starter("team", Kind.STACK, folder=tmp_path)


def test_a_tenant_of_the_platform_is_not_taken_again(tmp_path: Path) -> None:
    write_starter("base", Kind.LOCAL, folder=tmp_path)
    with pytest.raises(StarterError, match="has a tenant research already"):
        write_starter("research", Kind.STACK, folder=tmp_path)


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    file = write_starter("mine", Kind.LOCAL, folder=tmp_path)
    file.write_text("precious")
    with pytest.raises(StarterError, match=r"Pulumi\.mine\.yaml is there already"):
        write_starter("mine", Kind.EKS, folder=tmp_path)
    assert file.read_text() == "precious"


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "$(x)"])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(StarterError, match="is not a stack's name"):
        write_starter(name, Kind.LOCAL, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
