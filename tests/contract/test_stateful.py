"""Random sequences of verbs: the real store must answer as the model does, and look the same after each."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import EACH_SERVER
from tests.contract.conftest import SQLITE, FindGround
from tests.contract.machine import Machine

STEPS = 30
EXAMPLES_SQLITE = 60
EXAMPLES_POSTGRES = 15


@pytest.mark.parametrize("name", [SQLITE, *EACH_SERVER])
def test_a_store_agrees_with_the_model(name: str, ground: FindGround) -> None:
    machine = type(f"Machine_{name}", (Machine,), {"ground": ground(name)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES_SQLITE if name == SQLITE else EXAMPLES_POSTGRES,
            stateful_step_count=STEPS,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
