"""Certificates and kubeconfigs of one instance, made once and kept with its data."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tools.cluster.instance import Instance

NODE_NAME = "node-0"
_YEARS = dt.timedelta(days=3650)

# file name -> (organization, common name): the identities Kubernetes' own RBAC knows.
_CLIENTS = {
    "admin": ("system:masters", "admin"),
    "kube-controller-manager": (None, "system:kube-controller-manager"),
    "kube-scheduler": (None, "system:kube-scheduler"),
    "kube-proxy": (None, "system:kube-proxy"),
    "apiserver-kubelet-client": ("system:masters", "kube-apiserver-kubelet-client"),
    "front-proxy-client": (None, "front-proxy-client"),
}


def ensure_pki(instance: Instance) -> None:
    """Make what is missing. The authority and the service-account key outlive restarts."""
    folder = instance.pki
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    authority = _Authority.load_or_make(folder)
    if not (folder / "service-account.key").exists():
        key = ec.generate_private_key(ec.SECP256R1())
        _write_key(folder / "service-account.key", key)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        (folder / "service-account.pub").write_bytes(public)
    for name, (organization, common_name) in _CLIENTS.items():
        authority.issue(folder / name, common_name, organization)
    addresses = ["127.0.0.1", instance.api_ip, instance.networks.api_service_ip]
    names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
    names.append("kubernetes.default.svc.cluster.local")
    authority.issue(folder / "apiserver", "kube-apiserver", None, names, addresses)
    authority.issue(
        folder / "kubelet",
        f"system:node:{NODE_NAME}",
        "system:nodes",
        [NODE_NAME],
        [instance.api_ip, "127.0.0.1"],
    )
    for name in ("kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"):
        _write_kubeconfig(folder / f"{name}.kubeconfig", instance.api_url, folder, name)
    _write_kubeconfig(folder / "admin.kubeconfig", instance.api_url, folder, "admin")
    by_loopback = f"https://127.0.0.1:{instance.ports.api}"
    _write_kubeconfig(instance.kubeconfig, by_loopback, folder, "admin")


class _Authority:
    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @classmethod
    def load_or_make(cls, folder: Path) -> _Authority:
        key_file, certificate_file = folder / "ca.key", folder / "ca.crt"
        if certificate_file.exists():
            key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            return cls(key, x509.load_pem_x509_certificate(certificate_file.read_bytes()))
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "trainstack-local-ca")])
        certificate = (
            _builder(subject, subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        _write_key(key_file, key)
        certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return cls(key, certificate)

    def issue(
        self,
        file: Path,
        common_name: str,
        organization: str | None,
        dns_names: list[str] | None = None,
        addresses: list[str] | None = None,
    ) -> None:
        certificate_file = file.with_name(file.name + ".crt")
        if certificate_file.exists():
            return
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if organization is not None:
            attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
        key = ec.generate_private_key(ec.SECP256R1())
        usage = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        builder = (
            _builder(x509.Name(attributes), self._certificate.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        )
        alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in dns_names or []]
        alternatives += [x509.IPAddress(ipaddress.ip_address(ip)) for ip in addresses or []]
        if alternatives:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(alternatives), critical=False
            )
        _write_key(file.with_name(file.name + ".key"), key)
        certificate = builder.sign(self._key, hashes.SHA256())
        certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))  # clocks of virtual machines wander
        .not_valid_after(now + _YEARS)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey) -> None:
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _write_kubeconfig(file: Path, server: str, pki: Path, identity: str) -> None:
    def data(name: str) -> str:
        return base64.b64encode((pki / name).read_bytes()).decode()

    cluster = {"server": server, "certificate-authority-data": data("ca.crt")}
    user = {
        "client-certificate-data": data(f"{identity}.crt"),
        "client-key-data": data(f"{identity}.key"),
    }
    name = "trainstack-local"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": identity, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": identity}}],
        "current-context": name,
    }
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(document, sort_keys=False))
