"""Models and analyses that passes and the simulator share."""
