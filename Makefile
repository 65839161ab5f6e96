# `make grade` and `make test` set everything up in .venv on first use; nothing else has to be installed before.

PYTHON ?= $(shell sh docker/choose-python)
BIN := .venv/bin
READY := .venv/.ready
HOMEWORKS := attention_scores building_blocks byte_pair_encoding cost_model language_model lstm_gates multi_head positional_encoding recurrent seq2seq text_features transformer_block vision_transformer word_vectors

# Student code is walled in as strongly as this user can: root gives it a user of its own.
ISOLATION ?= $(if $(filter 0,$(shell id -u)),full,user)

.PHONY: setup grade test lint docs

setup: $(READY)

# pip comes from whichever python3 has it: a system's own interpreter often lacks it.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear --without-pip .venv
	python3 -m pip --python $(BIN)/python --disable-pip-version-check install --quiet \
	    --constraint constraints.txt --editable '.[dev]'
	touch $@

# The sample class: right, wrong, broken and hostile submissions to every homework.
grade: $(READY)
	@for homework in $(HOMEWORKS); do \
	    echo; echo "$$homework"; \
	    $(BIN)/softmark grade samples/$$homework -a $$homework --isolation $(ISOLATION) || exit; \
	done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint docker/Dockerfile
	$(BIN)/shellcheck docker/choose-python docker/make-wheelhouse docker/run_autograder docker/setup.sh .ci/run
	$(BIN)/typos

test: $(READY)
	$(BIN)/pytest -n 2

docs: $(READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/docs
