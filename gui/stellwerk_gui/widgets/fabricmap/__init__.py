"""The map of the cluster: nodes as cards, cables with two strands, a switch as a bar."""

from stellwerk_gui.widgets.fabricmap.map import FabricMap, scrolling
from stellwerk_gui.widgets.fabricmap.view import CableView, HalfView, MapView, NodeView, PortView, SwitchView

__all__ = ["CableView", "FabricMap", "HalfView", "MapView", "NodeView", "PortView", "SwitchView", "scrolling"]
