"""Lists of IP addresses and networks from settings."""

from __future__ import annotations

import ipaddress


class Networks:
    """Addresses and networks such as ``127.0.0.1, 10.0.0.0/8``, with a membership test."""

    def __init__(self, text: str) -> None:
        self._networks = [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]

    def __contains__(self, address: object) -> bool:
        try:
            found = ipaddress.ip_address(str(address))
        except ValueError:
            return False
        inner = getattr(found, "ipv4_mapped", None) or found   # ::ffff:127.0.0.1, where IPv6 listens for both
        return any(inner in network for network in self._networks)

    def __bool__(self) -> bool:
        return bool(self._networks)
