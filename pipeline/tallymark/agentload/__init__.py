"""Load tests for agent systems: scenarios, simulation in virtual time, what it says about the system."""
