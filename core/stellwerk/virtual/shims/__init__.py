"""The commands of a simulated node, by name."""

from __future__ import annotations

from stellwerk.virtual.call import Command
from stellwerk.virtual.shims import devices, ip, netconfig, perf, ping, ssh, sudo, system

COMMANDS: dict[str, Command] = {
    "ip": ip.run,
    "netplan": netconfig.netplan,
    "networkctl": netconfig.networkctl,
    "nmcli": netconfig.nmcli,
    "sudo": sudo.run,
    "ping": ping.run,
    "ib_write_bw": perf.run,
    "ib_write_lat": perf.run,
    "ethtool": devices.ethtool,
    "ibdev2netdev": devices.ibdev2netdev,
    "rdma": devices.rdma,
    "ibv_devinfo": devices.ibv_devinfo,
    "show_gids": devices.show_gids,
    "lspci": devices.lspci,
    "nvidia-smi": devices.nvidia_smi,
    "systemctl": system.systemctl,
    "systemd-run": system.systemd_run,
    "iptables": system.iptables,
    "sysctl": system.sysctl,
    "ssh": ssh.ssh,
    "ssh-keyscan": ssh.keyscan,
    ssh.RELAY: ssh.relay,
}
