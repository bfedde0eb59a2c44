/** Formats a number for people, with at most three decimals, as credits have. */
export const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 3 })

/** Formats a count with its noun: `1 row`, `1,200 rows`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`
