/** A number as people read it: credits have at most three decimals. */
export const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 3 })
