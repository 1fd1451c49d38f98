#!/usr/bin/env python3
"""Times other learning-to-rank tools on the bytes that the speed benchmark wrote.

    python3 peers.py --make-venv DIR      makes a virtual environment with the peers
    DIR/bin/python peers.py --data DATA [--only rax,torch] [--quick] [--check] [--threads N]
    DIR/bin/python peers.py --data DATA --peer rax --ask      trains the nets that stdin asks for

DATA contains shape.json, features.f32, labels.f32, offsets.u64 (little-endian) and data.svm. Results are written to
stdout, one JSON object per line, everything else to stderr. Every peer runs in its own process, so that thread pools do
not disturb each other. A time is the minimum over the repeats. Compilation and binning are not timed.

The neural peers are measured for each width and batch size that a line of stdin asks for, {"form": "tuned", "units": 10,
"batch": 10}; without --ask, for all of them. Zero units are a linear net. They come in two forms. "plain" is how they are
used: every epoch shuffles the queries and pads them during the measurement, torch to the longest query of a batch, rax to
the longest of all, because jit compiles one shape. "tuned" is as fast as we could make them, and favours them: queries of
similar length are batched and padded before the measurement, and every epoch has the same batches.
"""
import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import venv

try:
    import numpy as np
except ImportError:  # before the virtual environment is made
    np = None

PACKAGES = ["torch==2.15.0", "jax==0.10.2", "jaxlib==0.10.2", "rax==0.4.0", "optax==0.2.8", "lightgbm==4.7.0",
            "xgboost==3.2.0", "scikit-learn==1.9.1", "numpy==2.4.6"]  # these work together, Python 3.11 or newer
MODULES = {"rax": ["jax", "optax", "rax"], "torch": ["torch"], "lightgbm": ["lightgbm"], "xgboost": ["xgboost"],
           "sklearn": ["sklearn"]}
CELLS = [{"form": form, "units": units, "batch": batch}  # one thousand queries in the benchmark's data
         for form, widths in [("plain", [10]), ("tuned", [0, 10, 64, 256])] for units in widths
         for batch in [1, 10, 100, 1000]]
MAX_CELLS = 400_000_000  # of one padded (batch, L, L) tensor: several must fit in memory
SHAPES = 8  # padded lengths that rax is compiled for in the tuned form
LEARNING_RATE = 1e-3


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def emit(out, line):
    print(json.dumps(line), file=out, flush=True)


def minimum(run, repeats, best=float("inf"), budget=10.0):
    """Minimum seconds of `run` and the repeats made: fewer if two were far from `best` or the budget is spent."""
    seconds = []
    while len(seconds) < repeats and sum(seconds) < budget and (len(seconds) < 2 or min(seconds) < 1.5 * best):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), len(seconds)


class Bench:
    """One peer's run: the data, the settings and the lines to print."""

    def __init__(self, peer, version, options, out):
        self.peer, self.version, self.out, self.lines = peer, version, out, []
        self.quick, self.check, self.threads, self.ask = options.quick, options.check, options.threads, options.ask
        self.repeats, self.rounds = (1, 2) if self.quick else (5, 10)
        self.random = np.random.default_rng(0)
        with open(os.path.join(options.data, "shape.json")) as file:
            shape = json.load(file)
        self.documents, self.features, self.hidden = shape["documents"], shape["features"], shape["hidden"]
        self.svm = os.path.join(options.data, "data.svm")
        raw = lambda name, kind: np.fromfile(os.path.join(options.data, name), kind)
        self.x = raw("features.f32", "<f4").reshape(self.documents, self.features)
        self.y, self.offsets = raw("labels.f32", "<f4"), raw("offsets.u64", "<u8").astype(np.int64)
        self.lengths = np.diff(self.offsets)
        self.spans = list(zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist()))
        assert len(self.y) == self.documents == self.offsets[-1] and len(self.lengths) == shape["queries"]

    def add(self, task, seconds, repeats, note, objective=None, batch=None, form="tuned", units=None):
        net = "" if units is None else f"{units} units, batch {batch}, {form}"
        say(f"{self.peer:9} {task:9} {seconds:9.4f} s  {net} {objective or ''}  {note}")
        self.lines.append({"peer": self.peer, "version": self.version, "task": task, "objective": objective,
                           "units": units, "batch": batch, "seconds": seconds, "repeats": repeats, "best": False,
                           "threads": self.threads, "form": form, "note": note})

    def task(self, name, run):
        """Runs one task and prints its lines, the best of each objective marked; if it fails, prints the error."""
        try:
            run()
        except Exception as error:  # whatever a foreign library may raise: the other tasks go on
            emit(self.out, {"peer": self.peer, "task": name, "missing": f"{type(error).__name__}: {error}"[:300]})
        for kind in {(line["objective"], line["form"]) for line in self.lines}:
            same = [line for line in self.lines if (line["objective"], line["form"]) == kind]
            min(same, key=lambda line: line["seconds"])["best"] = True
        for line in self.lines:
            emit(self.out, line)
        self.lines = []

    def ndcg10(self, scores):
        """Mean NDCG@10, written out plainly: what the peers are checked by."""
        discount, total = 1 / np.log2(np.arange(10) + 2), 0.0
        dcg = lambda gains: float((gains[:10] * discount[:len(gains)]).sum())
        for begin, end in self.spans:
            gains = 2.0 ** self.y[begin:end] - 1
            ideal = dcg(np.sort(gains)[::-1])
            total += dcg(gains[np.argsort(-scores[begin:end], kind="stable")]) / ideal if ideal > 0 else 0.0
        return total / len(self.spans)

    def batches(self, size, shapes=None, order=None):
        """(features, labels, mask) of `size` queries together, in an order or of like length, padded to the longest of
        them; with `shapes`, to at most so many different lengths, the last batch filled with empty queries."""
        order = np.argsort(self.lengths, kind="stable") if order is None else order
        groups = [order[start:start + size] for start in range(0, len(order), size)]
        longest = np.array([self.lengths[group].max() for group in groups])
        if shapes == 1:
            longest[:] = self.lengths.max()
        elif shapes:
            longest = few_lengths(-(-longest // 8) * 8, shapes)
        made = []
        for group, length in zip(groups, longest.tolist()):
            rows = size if shapes else len(group)
            x, y = np.zeros((rows, length, self.features), np.float32), np.zeros((rows, length), np.float32)
            mask = np.zeros((rows, length), bool)
            for row, query in enumerate(group):
                begin, end = self.spans[query]
                x[row, :end - begin], y[row, :end - begin] = self.x[begin:end], self.y[begin:end]
                mask[row, :end - begin] = True
            made.append((x, y, mask))
        assert sum(int(mask.sum()) for _, _, mask in made) == self.documents, "every document once"
        return made

    def shuffled(self, size, shapes=None):
        """The same in a new random order."""
        return self.batches(size, shapes, self.random.permutation(len(self.lengths)))

    def epochs(self, prepare):
        """Times an epoch of each net that is asked for. `prepare(form, units, batch)` gives functions that train one epoch
        and score all documents, and a note."""
        for cell in map(json.loads, sys.stdin) if self.ask else CELLS:
            self.task("epoch", lambda: self.epoch(prepare, **cell))

    def epoch(self, prepare, form, units, batch):
        batch = min(batch, len(self.lengths))
        if batch * int(self.lengths.max()) ** 2 > MAX_CELLS:
            raise MemoryError(f"pairs of {batch} queries padded to {self.lengths.max()} documents")
        epoch, score, note = prepare(form, units, batch)
        before = self.ndcg10(score()) if self.check else None
        epoch()  # warm-up: compiles and fills the caches
        took, repeats = minimum(epoch, self.repeats, budget=3.0)
        self.add("epoch", took, repeats, note, "lambdarank:ndcg", batch, form, units)
        if self.check:
            for _ in range(3):
                epoch()
            after = self.ndcg10(score())
            say(f"check: {self.peer}: NDCG@10 {before:.4f}, after {repeats + 4} epochs {after:.4f}")
            assert after > before, "an epoch must train"

    def trees(self, kinds, update, predict, note):
        """Epoch and score of a tree booster: `kinds` gives (objective, booster, note); the last one scores."""
        def epochs():
            nonlocal booster, grown
            for objective, booster, kind in kinds:
                update(booster)
                took, repeats = minimum(lambda: [update(booster) for _ in range(self.rounds)], self.repeats)
                grown = 1 + repeats * self.rounds
                self.add("epoch", took / self.rounds, repeats, f"{note}, mean of {self.rounds}, {kind}", objective)

        def score():
            for _ in range(grown, 100):
                update(booster)
            scores = predict(booster)
            assert len(scores) == self.documents
            if self.check:
                say(f"check: {self.peer}: NDCG@10 after 100 trees {self.ndcg10(scores):.4f}")
            self.add("score", *minimum(lambda: predict(booster), self.repeats), f"100 times {note}")

        booster, grown = None, 0
        self.task("epoch", epochs)
        self.task("score", score)


def few_lengths(lengths, count):
    """Raises every length (ascending) to one of at most `count` values so that the sum of squares is least."""
    steps, first = np.unique(lengths, return_index=True)
    ends = np.append(first[1:], len(lengths))
    cost, cuts = np.append(0.0, np.full(len(steps), np.inf)), []
    for _ in range(min(count, len(steps))):  # cost[e] of the first e steps, their last group from step cuts[..][e - 1]
        table = cost[:-1, None] + (ends[None, :] - first[:, None]) * steps.astype(float) ** 2
        table[np.tril_indices(len(steps), -1)] = np.inf
        cuts.append(table.argmin(0))
        cost = np.append(0.0, table.min(0))
    raised, end = lengths.copy(), len(steps)
    for cut in reversed(cuts):
        if end > 0:
            raised[first[cut[end - 1]]:ends[end - 1]] = steps[end - 1]
            end = cut[end - 1]
    return raised


def run_torch(bench):
    import torch
    torch.set_num_threads(bench.threads)
    discounts = 1 / torch.log2(torch.arange(int(bench.lengths.max())) + 2.0)
    pair = lambda a, b: a[:, :, None] - b[:, None, :]

    def loss_gradient(s, up, down, d, gains, valid):  # autograd through padded pair tensors
        weights = pair(up, down).clamp_(min=0).mul_(pair(d, d).abs_())
        with torch.enable_grad():
            s = s.requires_grad_()
            return torch.autograd.grad((torch.nn.functional.softplus(-pair(s, s)) * weights).sum(), s)[0]

    def lambdas(s, up, down, d, gains, valid):  # in as few passes over pairs as plain tensors allow
        p = pair(-s, -s).sigmoid_().mul_(pair(d, d).abs_()).mul_(pair(up, down).clamp_(min=0))
        return p.sum(1) - p.sum(2)

    @torch.compile(dynamic=True)
    def compiled(s, up, down, d, gains, valid):  # one sum over ordered pairs, which the compiler fuses
        gain = pair(gains, gains)
        p = torch.sigmoid(pair(-s, -s) * gain.sign()) * gain * pair(d, d).abs() * valid[:, None, :]
        return -p.sum(2) * valid

    def network(units=bench.hidden):
        torch.manual_seed(0)
        if units == 0:
            return torch.nn.Linear(bench.features, 1)
        return torch.nn.Sequential(torch.nn.Linear(bench.features, units), torch.nn.Sigmoid(), torch.nn.Linear(units, 1))

    def tensors(batches):
        made = []
        for batch in batches:
            x, y, mask = map(torch.from_numpy, batch)
            gains = (2 ** y - 1) * mask
            ideal = (gains.sort(1, descending=True)[0] * discounts[:y.shape[1]]).sum(1, keepdim=True)
            gains = gains / ideal.clamp(min=1e-9)
            # No pair has positive gain when padding is worst as its better and best as its worse document.
            made.append((x, ~mask, gains.masked_fill(~mask, -1e9), gains.masked_fill(~mask, 1e9), gains, mask.float()))
        return made

    def prepare(form, units, size):
        plain, net = form == "plain", network(units)
        optimizer = torch.optim.Adam(net.parameters(), LEARNING_RATE, fused=True)
        batches = None if plain else tensors(bench.batches(size))

        def epoch():
            for x, padding, up, down, gains, valid in batches or tensors(bench.shuffled(size)):
                scores = net(x).squeeze(2)
                with torch.no_grad():
                    s = scores.detach()
                    d = discounts[s.masked_fill(padding, -1e30).argsort(1, descending=True).argsort(1)]
                    gradient = (loss_gradient if plain else kernel)(s, up, down, d, gains, valid)
                    if bench.check:
                        expected = loss_gradient(s, up, down, d, gains, valid)
                        torch.testing.assert_close(gradient, expected, rtol=1e-3, atol=1e-5)
                optimizer.zero_grad()
                scores.backward(gradient / len(x))
                optimizer.step()

        notes = {compiled: "lambdas by torch.compile", lambdas: "lambdas without autograd"}
        note = "autograd through padded pair tensors, shuffled" if plain else notes[kernel]
        return epoch, lambda: net(torch.from_numpy(bench.x)).detach().numpy()[:, 0], note

    kernel = compiled
    try:
        three = torch.rand(1, 3)
        compiled(three, three, three, three, three, three)
    except Exception as error:  # torch.compile needs a C++ compiler
        say(f"torch.compile: {type(error).__name__}: {str(error)[:300]}")
        kernel = lambdas

    @torch.no_grad()
    def score():
        net, x = network(), torch.from_numpy(bench.x)
        bench.add("score", *minimum(lambda: net(x), 2 * bench.repeats), "forward of all documents at once")

    bench.epochs(prepare)
    bench.task("score", score)


def run_rax(bench):
    import functools
    import jax
    import jax.numpy as jnp
    import optax
    import rax
    optimizer = optax.adam(LEARNING_RATE)
    weight = functools.partial(rax.dcg_lambdaweight, normalize=True)

    def forward(net, x):
        return (jax.nn.sigmoid(x @ net["w1"] + net["b1"]) if "w1" in net else x) @ net["w2"] + net["b2"]

    def loss_of(net, x, y, mask):
        loss = rax.pairwise_logistic_loss(forward(net, x), y, where=mask, lambdaweight_fn=weight, reduce_fn=jnp.sum)
        return loss / (x.shape[0] * x.shape[1])  # rax scales the weight by the padded length

    def step(state, batch):
        net, moments = state
        updates, moments = optimizer.update(jax.grad(loss_of)(net, *batch), moments, net)
        return optax.apply_updates(net, updates), moments

    def prepare(form, units, size):
        plain = form == "plain"
        keys = jax.random.split(jax.random.key(0), 2)
        draw = lambda key, shape: jax.random.normal(key, shape) / shape[0] ** 0.5
        net = {"w2": draw(keys[1], (units or bench.features,)), "b2": jnp.zeros(())}
        if units:
            net |= {"w1": draw(keys[0], (bench.features, units)), "b1": jnp.zeros(units)}
        state = net, optimizer.init(net)
        batches = None if plain else [tuple(map(jnp.asarray, batch)) for batch in bench.batches(size, SHAPES)]
        train = jax.jit(step, donate_argnums=0)

        def epoch():
            nonlocal state
            for batch in batches or bench.shuffled(size, 1):
                state = train(state, tuple(map(jnp.asarray, batch)))
            jax.block_until_ready(state)

        form = "one padded length, shuffled" if plain else f"at most {SHAPES} padded lengths"
        note = "pairwise_logistic_loss with dcg_lambdaweight, " + form
        return epoch, lambda: np.asarray(forward(state[0], bench.x)), note

    bench.epochs(prepare)


def run_lightgbm(bench):
    import lightgbm
    common = {"verbosity": -1, "num_threads": bench.threads, "objective": "lambdarank", "num_leaves": 31}
    data = lightgbm.Dataset(bench.x, bench.y, group=bench.lengths, params=common).construct()
    assert data.num_data() == bench.documents
    level = lambda pairs: lightgbm.Booster({**common, "lambdarank_truncation_level": pairs}, data)
    bench.trees([("lambdarank:ndcg", level(int(bench.lengths.max())), "all pairs"),
                 ("lambdarank:ndcg@30", level(30), "truncation level 30, its default")],
                lambda booster: booster.update(), lambda booster: booster.predict(bench.x, num_iteration=100),
                "one tree of 31 leaves")
    say("lightgbm read: skipped, its reader takes no qid")


def run_xgboost(bench):
    import xgboost
    common = {"objective": "rank:ndcg", "tree_method": "hist", "nthread": bench.threads}
    query = np.repeat(np.arange(len(bench.lengths)), bench.lengths)
    data = xgboost.QuantileDMatrix(bench.x, bench.y, qid=query, nthread=bench.threads)
    assert data.num_row() == bench.documents

    def pairs(method, count):
        return xgboost.Booster({**common, "lambdarank_pair_method": method,
                                "lambdarank_num_pair_per_sample": count}, [data])

    def read():
        load = lambda: xgboost.DMatrix(bench.svm + "?format=libsvm", nthread=bench.threads)
        assert load().num_row() == bench.documents
        bench.add("read", *minimum(load, min(bench.repeats, 3)), "DMatrix of the text file, sparse")

    bench.trees([("lambdarank:ndcg", pairs("topk", int(bench.lengths.max())), "pair method topk, all pairs"),
                 ("rank:ndcg mean", pairs("mean", 1), "pair method mean, 1 pair per document"),
                 ("lambdarank:ndcg@32", pairs("topk", 32), "pair method topk 32, its default")],
                lambda booster: booster.update(data, booster.num_boosted_rounds()),
                lambda booster: booster.inplace_predict(bench.x, iteration_range=(0, 100)), "one tree of depth 6")
    bench.task("read", read)


def run_sklearn(bench):
    from sklearn.datasets import load_svmlight_file
    from sklearn.metrics import ndcg_score

    def read():
        load = lambda: load_svmlight_file(bench.svm, n_features=bench.features, dtype=np.float32, query_id=True)
        loaded = []
        seconds, repeats = minimum(lambda: loaded.append(load()), min(bench.repeats, 2))
        assert loaded[0][0].shape == bench.x.shape and np.array_equal(loaded[0][1], bench.y)
        bench.add("read", seconds, repeats, "load_svmlight_file, sparse, one thread")

    def evaluate():
        scores, gains = np.random.default_rng(0).normal(size=bench.documents), 2.0 ** bench.y - 1
        several = [(begin, end) for begin, end in bench.spans if end - begin > 1]  # it refuses a single document
        mask = np.arange(bench.lengths.max())[None, :] < bench.lengths[:, None]
        table = np.zeros(mask.shape), np.full(mask.shape, scores.min() - 1)
        table[0][mask], table[1][mask] = gains, scores
        each = lambda: [ndcg_score(gains[None, b:e], scores[None, b:e], k=10, ignore_ties=True) for b, e in several]
        at_once = lambda: ndcg_score(*table, k=10, ignore_ties=True)
        if bench.check:
            say(f"check: NDCG@10 {bench.ndcg10(scores):.6f}; sklearn {at_once():.6f} at once,",
                f"{sum(each()) / len(bench.spans):.6f} by query, {len(several)} of more than one document")
        bench.add("evaluate", *minimum(each, bench.repeats), "ndcg_score(k=10) query by query")
        bench.add("evaluate", *minimum(at_once, bench.repeats), "ndcg_score(k=10) of one matrix padded beforehand")

    bench.task("read", read)
    bench.task("evaluate", evaluate)


def run_peer(peer, options):
    """In the peer's own process: what libraries print goes to stderr, our lines alone to stdout."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.environ |= {"OMP_NUM_THREADS": str(options.threads), "JAX_PLATFORMS": "cpu",
                   # A second run does not compile again.
                   "JAX_COMPILATION_CACHE_DIR": os.path.join(sys.prefix, "jax-cache"),
                   "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    try:
        modules = [importlib.import_module(name) for name in MODULES[peer]]
    except Exception as error:
        return emit(out, {"peer": peer, "missing": f"{type(error).__name__}: {error}"[:300]})
    globals()["run_" + peer](Bench(peer, modules[-1].__version__, options, out))


def run_all(options):
    for peer in options.only.split(",") if options.only else MODULES:
        begun = time.perf_counter()
        code = subprocess.run([sys.executable, os.path.abspath(__file__), "--peer", peer, *sys.argv[1:]]).returncode
        if code != 0:
            emit(sys.stdout, {"peer": peer, "missing": f"its process ended with code {code}"})
        say(f"{peer}: {time.perf_counter() - begun:.0f} s in all")


def make_venv(folder):
    venv.EnvBuilder(with_pip=True).create(folder)
    python = os.path.join(folder, "Scripts" if os.name == "nt" else "bin", "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run(install + PACKAGES, stdout=sys.stderr).returncode != 0:
        say("the pinned versions do not install together here: trying any version of each")
        for package in PACKAGES:
            subprocess.run(install + [package.split("==")[0]], stdout=sys.stderr)


def main():
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make-venv", metavar="DIR", help="make a virtual environment with the peers in DIR")
    parser.add_argument("--data", metavar="DATA", help="the folder that the benchmark wrote")
    parser.add_argument("--only", help="the peers to run, with commas between: " + ", ".join(MODULES))
    parser.add_argument("--quick", action="store_true", help="one repeat, two batch sizes: a smoke test")
    parser.add_argument("--check", action="store_true", help="also check that the peers learn (spoils the times)")
    parser.add_argument("--threads", type=int, default=usable, help="of every peer (default: all, here %(default)s)")
    parser.add_argument("--peer", choices=list(MODULES), help="measure this peer in this process")
    parser.add_argument("--ask", action="store_true", help="measure the nets that lines of stdin ask for")
    options = parser.parse_args()
    if options.make_venv:
        make_venv(options.make_venv)
    elif not options.data:
        parser.error("--data DATA or --make-venv DIR is needed")
    elif options.peer:
        if options.threads < usable and hasattr(os, "sched_setaffinity"):  # the only limit that jax obeys
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
        run_peer(options.peer, options)
    elif unknown := set((options.only or "rax").split(",")) - set(MODULES):
        parser.error(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}")
    else:
        run_all(options)


if __name__ == "__main__":
    main()
