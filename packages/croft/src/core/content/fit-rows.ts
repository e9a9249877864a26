/** Of one answer. A client ends the connection over a message that is too long, and names are what a tree makes them. */
const maxLength = 900_000;

/** The first of them, as many as an answer has room for; one in any case. */
export function fitRows<Row>(rows: readonly Row[], lengthOf: (row: Row) => number): readonly Row[] {
  let length = 0;
  const end = rows.findIndex((row, index) => {
    length += lengthOf(row);
    return index > 0 && length > maxLength;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
