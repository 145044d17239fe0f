"""What can go wrong on a simulated node, in a few words; the command line calls it by its code."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def translate(text: str) -> str:
    return QCoreApplication.translate("trial", text)


def fault_word(code: str) -> str:
    """A fault's name for the eye."""
    words = {
        "cable-unplugged": translate("Cable unplugged"),
        "cable-wrong-port": translate("Cable in the wrong port"),
        "link-100g": translate("Link at 100 Gb/s"),
        "switch-silent": translate("Switch without a name"),
        "half-13g": translate("Half at 13 Gb/s"),
        "mtu-reset": translate("Wrong MTU"),
        "power-off": translate("Power off"),
        "power-on": translate("Power on"),
        "reboot": translate("Restart"),
        "reinstall": translate("Installed anew"),
        "agent-killed": translate("Agent killed"),
        "guard-killed": translate("Network guard killed"),
        "disk-full": translate("Disk full"),
        "sudo-wrong-password": translate("Another sudo password"),
        "sudo-nopasswd": translate("sudo without a password"),
        "sudo-none": translate("No sudo"),
        "twins-one-subnet": translate("Both halves in one subnet"),
        "link-local-off": translate("No link-local addresses"),
        "foreign-netplan": translate("Foreign netplan file"),
        "clock-skew": translate("Clock ahead"),
        "python-missing": translate("Python missing"),
        "ssh-drop": translate("SSH cut"),
    }
    return words.get(code, code)


def shape_word(nodes: int, topology: str) -> str:
    """How many simulated nodes there are and how they are cabled."""
    words = {
        "switch": translate("{n} on a switch"),
        "ring": translate("{n} as a ring"),
        "chain": translate("{n} as a chain"),
        "pair": translate("{n} as a pair"),
        "single": translate("one alone"),
    }
    return words[topology].format(n=nodes)
