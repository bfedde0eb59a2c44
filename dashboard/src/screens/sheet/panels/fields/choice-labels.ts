/** The words for values of the API that do not read by themselves. */
const LABELS: Readonly<Record<string, string>> = {
  as_listed: 'In this order',
  cheapest_per_find: 'Cheapest per result',
}

/** Returns a fixed value in words: `newest_first` is `Newest first`. Values in capitals, such as GET, stay. */
export function labelChoice(value: string): string {
  const known = LABELS[value]
  if (known !== undefined) return known
  const words = value.replaceAll(/[_-]+/g, ' ').trim()
  return words === value && /[A-Z]/.test(value) ? value : `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
