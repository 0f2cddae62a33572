from __future__ import annotations

import ipaddress
import itertools
import socket
from dataclasses import asdict
from pathlib import Path

import pytest

from tools.cluster import instance as instances
from tools.cluster import preflight
from tools.cluster.instance import (
    SLOTS,
    Instance,
    Mode,
    Networks,
    Ports,
    create_instance,
    load_instance,
    release_slot,
)
from tools.errors import ToolError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSTACK_CACHE", str(tmp_path / "cache"))


def _instance(home: Path, mode: Mode = Mode.SIMULATED, slot: int = 15) -> Instance:
    return Instance(home=home, identity="x", slot=slot, mode=mode)


def _nothing(_name: str) -> None:
    return None


def _taken(_port: int) -> bool:
    return False


def _a_tunnel(_network: str) -> str:
    return "10.0.0.0/8 dev tun0"


def test_no_two_slots_share_a_port_or_an_address() -> None:
    ports = [set(asdict(Ports.of_slot(slot)).values()) for slot in range(SLOTS)]
    networks = [ipaddress.ip_network(Networks.of_slot(slot).whole) for slot in range(SLOTS)]
    for one, other in itertools.combinations(range(SLOTS), 2):
        assert ports[one].isdisjoint(ports[other])
        assert not networks[one].overlaps(networks[other])


def test_a_slots_networks_are_apart_and_inside() -> None:
    networks = Networks.of_slot(3)
    parts = [networks.pods, networks.services, networks.simulated_pods, networks.link]
    parsed = [ipaddress.ip_network(part) for part in parts]
    whole = ipaddress.IPv4Network(networks.whole)
    assert all(part.subnet_of(whole) for part in parsed if isinstance(part, ipaddress.IPv4Network))
    assert not any(a.overlaps(b) for a, b in itertools.combinations(parsed, 2))


def test_instances_get_different_slots_and_keep_them(tmp_path: Path) -> None:
    first = create_instance(tmp_path / "a", Mode.SIMULATED)
    second = create_instance(tmp_path / "b", Mode.SIMULATED)
    assert first.slot != second.slot
    assert load_instance(tmp_path / "a") == first
    assert load_instance(tmp_path / "nothing") is None


def test_a_released_slot_is_used_again(tmp_path: Path) -> None:
    first = create_instance(tmp_path / "a", Mode.SIMULATED)
    release_slot(first)
    assert create_instance(tmp_path / "b", Mode.SIMULATED).slot == first.slot


def test_a_slot_whose_port_is_taken_is_passed_over(tmp_path: Path) -> None:
    slot = create_instance(tmp_path / "a", Mode.SIMULATED)
    release_slot(slot)
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", slot.ports.etcd))
        squatter.listen()
        assert create_instance(tmp_path / "b", Mode.SIMULATED).slot != slot.slot


def test_when_all_slots_are_taken_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "port_is_free", _taken)
    with pytest.raises(ToolError, match="all 16 cluster slots") as refused:
        create_instance(tmp_path / "a", Mode.SIMULATED)
    assert "make clean" in refused.value.next_step


def test_a_kernel_without_overlay_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.shutil, "which", _nothing)
    preflight.check_kernel("nodev\tproc\nnodev\toverlay\n")
    with pytest.raises(ToolError, match="kernel without overlay"):
        preflight.check_kernel("nodev\tproc\n\text4\n")


def test_missing_packages_without_apt_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.shutil, "which", _nothing)
    with pytest.raises(ToolError, match="missing programs: conntrack, containerd") as refused:
        preflight.ensure_packages()
    assert "package manager" in refused.value.next_step


def test_a_real_node_without_root_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "running_as_root", lambda: False)
    with pytest.raises(ToolError, match=r"no root: the cluster in .* has a real node"):
        preflight.check_machine(_instance(tmp_path, Mode.REAL))


def test_without_root_it_says_that_nodes_are_simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(preflight, "running_as_root", lambda: False)
    assert preflight.choose_mode() is Mode.SIMULATED
    assert "simulated nodes only" in capsys.readouterr().err


def test_a_network_the_machine_uses_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "overlapping_route", _a_tunnel)
    with pytest.raises(ToolError, match=r"10\.239\.0\.0/16 overlaps .* 10\.0\.0\.0/8"):
        preflight.check_network(_instance(tmp_path, Mode.REAL))
