/* SPDX-License-Identifier: GPL-3.0-or-later
 * Meehan, Figure 9, TSP: the travelling salesman by branch and bound. Rank 0 deals the beginnings of tours
 * to whoever asks first (Recv from anybody); a worker that finds a shorter tour tells the other workers,
 * which look for such news now and then (Iprobe for anybody, then Recv).
 * tsp [CITIES=16]
 */
#include "papers.h"

enum { ASK = 1, TASK, NEWS, MASTER = 0, END = -1 };
enum { MOST = 16, LONGEST = 1 << 28, NODES_A_LOOK = 16, SEED = 5 };

struct map {
    int n, miles[MOST][MOST], nearest[MOST];
};

/* A tour as it is told to rank 0. */
struct tour {
    int length, cities[MOST];
};

struct search {
    struct world world;
    struct map map;
    struct tour shortest; /* of those found here */
    int path[MOST], best, nodes, ended;
};

static struct map map_of(int n)
{
    struct map map = {.n = n};
    uint64_t state = SEED;
    double x[MOST], y[MOST];
    for (int i = 0; i < n; ++i) {
        x[i] = (double)(next_random(&state) % 1000);
        y[i] = (double)(next_random(&state) % 1000);
        map.nearest[i] = LONGEST;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            map.miles[i][j] = (int)(hypot(x[i] - x[j], y[i] - y[j]) + 0.5);
            if (i != j && map.miles[i][j] < map.nearest[i])
                map.nearest[i] = map.miles[i][j];
        }
    return map;
}

static void hear(struct search *search, int from)
{
    int news;
    MPI_Recv(&news, 1, MPI_INT, from, NEWS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (news == END)
        ++search->ended;
    else if (news < search->best)
        search->best = news;
}

static void look(struct search *search)
{
    for (;;) {
        MPI_Status status;
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, NEWS, MPI_COMM_WORLD, &flag, &status);
        if (!flag)
            return;
        hear(search, status.MPI_SOURCE);
    }
}

static void tell(const struct search *search, int news)
{
    for (int to = 1; to < search->world.size; ++to)
        if (to != search->world.rank)
            MPI_Send(&news, 1, MPI_INT, to, NEWS, MPI_COMM_WORLD);
}

static void arrive(struct search *search, int length)
{
    const struct map *map = &search->map;
    length += map->miles[search->path[map->n - 1]][search->path[0]];
    if (length >= search->best)
        return;
    search->best = search->shortest.length = length;
    memcpy(search->shortest.cities, search->path, sizeof search->path);
    tell(search, length);
}

/* To all cities left, of which rest is the least that leaving them and the last one may cost. */
static void extend(struct search *search, int count, unsigned visited, int length, int rest)
{
    const struct map *map = &search->map;
    const int last = search->path[count - 1];
    if (++search->nodes % NODES_A_LOOK == 0)
        look(search);
    if (count == map->n) {
        arrive(search, length);
        return;
    }
    for (int city = 1; city < map->n; ++city) {
        const int longer = length + map->miles[last][city], less = rest - map->nearest[last];
        if (visited >> city & 1 || longer + less >= search->best)
            continue;
        search->path[count] = city;
        extend(search, count + 1, visited | 1u << city, longer, less);
    }
}

/* Task number task: from city 0 to a, then to b. */
static void begin_with(struct search *search, int task)
{
    const struct map *map = &search->map;
    const int a = task / (map->n - 1) + 1, b = task % (map->n - 1) + 1;
    int rest = 0;
    for (int city = 0; city < map->n; ++city)
        rest += city == 0 || city == a ? 0 : map->nearest[city];
    search->path[0] = 0;
    search->path[1] = a;
    search->path[2] = b;
    if (a != b)
        extend(search, 3, 1u | 1u << a | 1u << b, map->miles[0][a] + map->miles[a][b], rest);
}

static void work(struct search *search)
{
    for (;;) {
        int task;
        MPI_Send(&search->shortest, 1 + MOST, MPI_INT, MASTER, ASK, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, MASTER, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task == END)
            break;
        look(search);
        begin_with(search, task);
    }
    /* all news must be received before the end; those of a rank come before its END */
    tell(search, END);
    while (search->ended < search->world.size - 2)
        hear(search, MPI_ANY_SOURCE);
}

static struct tour deal(const struct map *map, int workers)
{
    const int tasks = (map->n - 1) * (map->n - 1);
    struct tour shortest = {.length = LONGEST};
    for (int next = 0, stopped = 0; stopped < workers;) {
        struct tour tour;
        MPI_Status status;
        MPI_Recv(&tour, 1 + MOST, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        if (tour.length < shortest.length)
            shortest = tour;
        if (next / (map->n - 1) == next % (map->n - 1))
            ++next;
        const int task = next < tasks ? next++ : END;
        stopped += task == END;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
    }
    return shortest;
}

/* By Held and Karp: the shortest way from city 0 through a set of the others that ends in one of them. */
static int least(const struct map *map)
{
    const int others = map->n - 1, sets = 1 << others;
    int *ways = room((size_t)sets * (size_t)others, sizeof *ways), best = LONGEST;
    for (int set = 1; set < sets; ++set)
        for (int end = 0; end < others; ++end) {
            const int before = set & ~(1 << end);
            int shortest = before == 0 ? map->miles[0][end + 1] : LONGEST;
            for (int city = 0; city < others && set != before; ++city)
                if (before >> city & 1) {
                    const int way = ways[before * others + city] + map->miles[city + 1][end + 1];
                    shortest = way < shortest ? way : shortest;
                }
            ways[set * others + end] = shortest;
        }
    for (int end = 0; end < others; ++end) {
        const int tour = ways[(sets - 1) * others + end] + map->miles[end + 1][0];
        best = tour < best ? tour : best;
    }
    free(ways);
    return best;
}

static int right(const struct map *map, const struct tour *tour)
{
    int length = 0, visited = 0;
    for (int i = 0; i < map->n; ++i) {
        length += map->miles[tour->cities[i]][tour->cities[(i + 1) % map->n]];
        visited |= 1 << tour->cities[i];
    }
    return visited == (1 << map->n) - 1 && length == tour->length && length == least(map);
}

int main(int argc, char **argv)
{
    struct search search = {.world = begin(&argc, &argv, 2), .shortest.length = LONGEST, .best = LONGEST};
    const int n = argument(argc, argv, 1, 16);
    int ok = 1;
    if (n < 4 || n > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    search.map = map_of(n);
    if (search.world.rank == MASTER) {
        search.shortest = deal(&search.map, search.world.size - 1);
        ok = right(&search.map, &search.shortest);
    } else {
        work(&search);
    }
    return verdict(search.world, "tsp", ok, "cities=%d length=%d", n, search.shortest.length);
}
