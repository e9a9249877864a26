/**
 * Limit per answer. A client ends the connection over a message that is too long, and a tree may hold names of any
 * length.
 */
const maxLength = 900_000;

/** Returns as many leading rows as fit into one answer, and at least one. */
export function fitRows<Row>(rows: readonly Row[], lengthOf: (row: Row) => number): readonly Row[] {
  let length = 0;
  const end = rows.findIndex((row, index) => {
    length += lengthOf(row);
    return index > 0 && length > maxLength;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
