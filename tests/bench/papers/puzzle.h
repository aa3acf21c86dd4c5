// SPDX-License-Identifier: GPL-3.0-or-later
/* The N-puzzle and its search by iterative deepening (IDA*) over an explicit stack. */
#ifndef BENCH_PAPERS_PUZZLE_H
#define BENCH_PAPERS_PUZZLE_H
#include "papers.h"

enum { MOST_SIDE = 10, MOST_MOVES = 60, MOST_NODES = 8192, DIRECTIONS = 4, NEVER = 1 << 20 };

/* A position, how it was reached, and how far away it is at least. In the goal cell i holds i. */
struct node {
  uint8_t cells[MOST_SIDE * MOST_SIDE], path[MOST_MOVES];
  int16_t hole, moves, distance;
};

struct search {
  int side, bound, next_bound, count, found;
  struct node* stack;
  struct node solution;
};

static inline int distance(int side, int cell, int tile) {
  return abs(cell / side - tile / side) + abs(cell % side - tile % side);
}

/* The cell where the hole goes from there, or -1 at the edge; 0 and 3, 1 and 2 undo each other. */
static inline int neighbour(int side, int hole, int direction) {
  static const int rows[DIRECTIONS] = {-1, 0, 0, 1}, columns[DIRECTIONS] = {0, -1, 1, 0};
  const int row = hole / side + rows[direction], column = hole % side + columns[direction];
  return row >= 0 && row < side && column >= 0 && column < side ? row * side + column : -1;
}

static inline int undoes(const struct node* node, int direction) {
  return node->moves > 0 && node->path[node->moves - 1] == DIRECTIONS - 1 - direction;
}

/* The hole changes places with the tile beside it. */
static inline void move(struct node* node, int side, int direction, int to) {
  const int tile = node->cells[to];
  node->distance += (int16_t)(distance(side, node->hole, tile) - distance(side, to, tile));
  node->cells[to] = node->cells[node->hole];
  node->cells[node->hole] = (uint8_t)tile;
  node->hole = (int16_t)to;
  node->path[node->moves++] = (uint8_t)direction;
}

static inline struct node goal(int side) {
  struct node node;
  memset(&node, 0, sizeof node);
  for (int cell = 0; cell < side * side; ++cell)
    node.cells[cell] = (uint8_t)cell;
  node.hole = (int16_t)(side / 2 * side + side / 2);
  return node;
}

static inline struct node scrambled(int side, int moves, uint64_t seed) {
  struct node node = goal(side);
  while (node.moves < moves) {
    const int direction = (int)(next_random(&seed) % DIRECTIONS),
              to = neighbour(side, node.hole, direction);
    if (to >= 0 && !undoes(&node, direction))
      move(&node, side, direction, to);
  }
  node.moves = 0;
  memset(node.path, 0, sizeof node.path);
  return node;
}

static inline void push(struct search* search, const struct node* node) {
  if (search->count == MOST_NODES)
    MPI_Abort(MPI_COMM_WORLD, 2);
  search->stack[search->count++] = *node;
}

/* Takes a position off the stack and puts those on it that one move makes, within the bound. */
static inline void expand(struct search* search) {
  const struct node node = search->stack[--search->count];
  if (node.distance == 0) {
    search->found = 1;
    search->solution = node;
    return;
  }
  for (int direction = 0; direction < DIRECTIONS; ++direction) {
    const int to = neighbour(search->side, node.hole, direction);
    struct node child = node;
    if (to < 0 || undoes(&node, direction) || node.moves == MOST_MOVES)
      continue;
    move(&child, search->side, direction, to);
    const int least = child.moves + child.distance;
    if (least <= search->bound)
      push(search, &child);
    else if (least < search->next_bound)
      search->next_bound = least;
  }
}

/* The least number of moves, in one process. */
static inline int least_moves(const struct node* start, int side) {
  struct search search = {.side = side, .bound = start->distance};
  search.stack = room(MOST_NODES, sizeof *search.stack);
  while (!search.found) {
    search.next_bound = NEVER;
    push(&search, start);
    while (search.count > 0 && !search.found)
      expand(&search);
    if (!search.found)
      search.bound = search.next_bound;
  }
  free(search.stack);
  return search.solution.moves;
}

/* Whether the moves lead to the goal. */
static inline int solves(struct node start, int side, const uint8_t* path, int moves) {
  for (int i = 0; i < moves; ++i) {
    const int to = neighbour(side, start.hole, path[i]);
    if (to < 0)
      return 0;
    move(&start, side, path[i], to);
  }
  return start.distance == 0;
}
#endif
