"""A person at the public faces, for scripts: signs in as the browser does, and sends what a form would send."""

from __future__ import annotations

from typing import Any

import httpx2


class SignedIn:
    """One person's session. Only loopback addresses are ever given here."""

    def __init__(self, base_url: str, username: str, password: str) -> None:
        """Raises RuntimeError when the sign-in is refused."""
        self._client = httpx2.Client(base_url=base_url, follow_redirects=True, timeout=30, trust_env=False)
        self._client.get("/console/sign-in/").raise_for_status()
        form = {"username": username, "password": password, "csrfmiddlewaretoken": self._csrf()}
        answer = self._client.post("/console/sign-in/", data=form, headers={"Referer": base_url})
        if answer.status_code != 200 or not any("session" in name for name in self._client.cookies):
            raise RuntimeError(f"{username} could not sign in: {answer.status_code}")

    def get(self, path: str) -> httpx2.Response:
        return self._client.get(path)

    def post(self, path: str, body: Any) -> httpx2.Response:
        return self._client.post(
            path, json=body, headers={"X-CSRFToken": self._csrf(), "Referer": str(self._client.base_url)}
        )

    def send(self, path: str, **fields: str | list[str]) -> httpx2.Response:
        """Send a form, and follow where it leads."""
        form = {**fields, "csrfmiddlewaretoken": self._csrf()}
        return self._client.post(path, data=form, headers={"Referer": str(self._client.base_url)})

    @property
    def cookies(self) -> dict[str, str]:
        """What a browser needs to go on with this session."""
        return dict(self._client.cookies)

    def decide(self, proposal: dict[str, Any], decision: str, **more: Any) -> httpx2.Response:
        """Send a decision about what the API showed: its digest, its version."""
        body = {"decision": decision, "digest": proposal["digest"], "version": proposal["case_version"], **more}
        return self.post(f"/api/v1/proposals/{proposal['id']}/decision/", body)

    def close(self) -> None:
        self._client.close()

    def _csrf(self) -> str:
        return next(value for name, value in self._client.cookies.items() if "csrf" in name)
