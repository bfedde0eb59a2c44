/** Prints a count with its noun: `1 row`, `2 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
