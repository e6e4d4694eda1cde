import sys
try:
    import graphfill.errors
except ImportError:
    import fake_errors
    sys.modules["graphfill.errors"] = fake_errors
try:
    import graphfill._native
except ImportError:
    import fake_native, graphfill
    sys.modules["graphfill._native"] = fake_native
    graphfill._native = fake_native
