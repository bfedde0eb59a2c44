/** A number as people read it: credits have at most three decimals. */
export const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 3 })

/** Prints a count with its noun: `1 row`, `1,200 rows`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`
