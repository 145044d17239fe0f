"""Real SSH to simulated Sparks: who gets in, what a session sees, where files land."""

from __future__ import annotations

import asyncssh
import pytest

from stellwerk.virtual import VirtualCluster, VirtualNode


def connect(node: VirtualNode, **options: object) -> asyncssh.connection._ACMWrapper[asyncssh.SSHClientConnection]:
    chosen: dict[str, object] = {"username": node.user, "password": node.password, "client_keys": None, **options}
    return asyncssh.connect(node.host, node.port, known_hosts=None, config=None, agent_path=None, **chosen)


async def test_a_pair_starts_and_every_node_can_be_logged_in_to_with_its_own_password_and_key() -> None:
    async with VirtualCluster.start(2, "pair") as cluster:
        assert [node.name for node in cluster.nodes] == ["spark-1", "spark-2"]
        assert len({node.password for node in cluster.nodes}) == 2
        assert len({node.host_key_fingerprint for node in cluster.nodes}) == 2
        for node in cluster.nodes:
            async with connect(node) as connection:
                key = connection.get_server_host_key()
                assert key is not None
                assert key.get_fingerprint() == node.host_key_fingerprint
                done = await connection.run("echo $HOME; exit 3")
            assert (done.exit_status, done.stdout) == (3, f"{node.home}\n")


async def test_a_wrong_password_and_another_user_are_refused() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        for wrong in ({"password": "nonsense"}, {"username": "root"}):
            with pytest.raises(asyncssh.PermissionDenied):
                async with connect(node, **wrong):
                    pass


async def test_sudo_asks_by_askpass_and_root_may_what_the_user_may_not() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        async with connect(node) as connection:
            async with connection.start_sftp_client() as sftp:
                async with sftp.open("ask", "w") as file:
                    await file.write(f"#!/bin/sh\necho '{node.sudo_password}'\n")
                await sftp.chmod("ask", 0o700)
            mtu = "ip link set enp1s0f0np0 mtu 9000"
            refused = await connection.run(mtu)
            assert (refused.exit_status, refused.stderr) == (2, "RTNETLINK answers: Operation not permitted\n")
            assert (await connection.run("sudo -k -n true")).stderr == "sudo: a password is required\n"
            done = await connection.run(f"SUDO_ASKPASS=$HOME/ask sudo -k -A -- {mtu}")
            assert done.exit_status == 0, done.stderr
            assert "mtu 9000" in str((await connection.run("ip link show enp1s0f0np0")).stdout)
