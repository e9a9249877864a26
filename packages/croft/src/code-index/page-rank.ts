/** The edges of a graph, in any order. Edge `i` leads from `from[i]` to `to[i]` and has the weight `weight[i]`. */
export interface GraphEdges {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly weight: Float64Array;
}

const damping = 0.85;
const rounds = 30;

/**
 * PageRank by power iteration. `bias` says how likely a reader starts at each page; without it, all alike. The ranks add
 * up to 1.
 */
export function pageRank(count: number, edges: GraphEdges, bias?: Float64Array): Float64Array {
  const start = toShares(bias ?? new Float64Array(count).fill(1));
  const shares = toOutgoingShares(count, edges);
  let ranks = start;
  for (let round = 0; round < rounds; round++) ranks = follow(ranks, start, edges, shares);
  return ranks;
}

/** The share of each edge in all that leaves its page, and the pages without an edge out of them. */
function toOutgoingShares(count: number, { from, weight }: GraphEdges) {
  const sums = new Float64Array(count);
  for (const [at, page] of from.entries()) add(sums, page, weight[at]);
  return {
    ofEdges: weight.map((worth, at) => worth / (sums[from[at] ?? 0] || 1)),
    ends: [...sums.keys()].filter((page) => sums[page] === 0),
  };
}

/** One step of a reader who follows edges, and at times starts again at a random page. */
function follow(
  ranks: Float64Array,
  start: Float64Array,
  { from, to }: GraphEdges,
  { ofEdges, ends }: ReturnType<typeof toOutgoingShares>,
): Float64Array {
  const next = new Float64Array(ranks.length);
  for (const [at, page] of from.entries()) add(next, to[at] ?? 0, (ranks[page] ?? 0) * (ofEdges[at] ?? 0));
  const stranded = ends.reduce((sum, page) => sum + (ranks[page] ?? 0), 0);
  return next.map((arrived, page) => {
    const begun = start[page] ?? 0;
    return (1 - damping) * begun + damping * (arrived + stranded * begun);
  });
}

function add(values: Float64Array, at: number, value = 0): void {
  values[at] = (values[at] ?? 0) + value;
}

function toShares(values: Float64Array): Float64Array {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => (sum === 0 ? 1 / values.length : value / sum));
}
