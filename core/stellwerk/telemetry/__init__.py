"""Counters to rates, ring buffers."""

from stellwerk.telemetry.store import Freshness, TelemetryStore, Window

__all__ = ["Freshness", "TelemetryStore", "Window"]
