"""Data sets of `tabular_imputers.py` as nodes.csv and edges.csv."""

import itertools

import numpy
import pandas

import tables

MOVIES = "imdb_movies"
MOVIE_PEOPLE = ("director_name", "actor_1_name", "actor_2_name", "actor_3_name")
MAX_LEVELS = 72  # of a category of the movies
MAX_CLIQUE = 20  # movies of one person that are all joined with each other
LINKS = 10  # edges that each movie of a person with more movies draws


def find(name, data, folder):
    """Paths of nodes.csv and edges.csv; None if `data` does not have the data set.

    Archives (the `aux` columns of twitch_ptbr; two years of climate) and `imdb_movies` are converted
    into `folder`.
    """
    nodes, edges = data / name / "nodes.csv", data / name / "edges.csv"
    if nodes.is_file() and edges.is_file():
        return nodes, edges
    archive, movies = data / name / f"{name}.npz", data / "raw" / name / "movie_metadata.csv"
    folder.mkdir(parents=True, exist_ok=True)
    if name == MOVIES and movies.is_file():
        return write_movies(movies, folder)
    return tables.write_npz(archive, folder) if archive.is_file() else None


def write_movies(path, folder):
    """Writes one node per movie title, and an edge where two movies share a director or an actor.

    Keeps columns of numbers and categories with at most 72 levels; gaps stay gaps. All movies of a
    person are joined with each other, unless there are more than 20: then each is joined with 10
    others of them, drawn at random, so that no person makes up most of the graph.
    """
    movies = pandas.read_csv(path)
    movies = movies[~movies["movie_title"].str.strip().duplicated()].reset_index(drop=True)
    pairs, generator = set(), numpy.random.default_rng(0)
    people = movies[list(MOVIE_PEOPLE)].melt(ignore_index=False)["value"].dropna().str.strip()
    for _, group in people.groupby(people):
        same = sorted(set(group.index))
        if len(same) <= MAX_CLIQUE:
            pairs.update(itertools.combinations(same, 2))
            continue
        for movie in same:
            others = generator.choice([other for other in same if other != movie], LINKS, replace=False)
            pairs.update((min(movie, other), max(movie, other)) for other in map(int, others))
    columns = {}
    for name in movies.columns.drop(["movie_title", *MOVIE_PEOPLE]):
        column = movies[name]
        if pandas.api.types.is_numeric_dtype(column):
            whole = (column.dropna() % 1 == 0).all()
            columns[name] = column.astype("Int64") if whole else column
        elif column.nunique() <= MAX_LEVELS:
            columns[name] = column.str.strip()
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    table = pandas.DataFrame(columns)
    table.insert(0, "id", [f"m{row}" for row in range(len(movies))])
    table.to_csv(nodes, index=False)
    ends = pandas.DataFrame(sorted(pairs), columns=["source", "target"])
    ("m" + ends.astype(str)).to_csv(edges, index=False)
    return nodes, edges
