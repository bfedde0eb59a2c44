type Place = {
  city?: string | null | undefined
  state?: string | null | undefined
  country?: string | null | undefined
}

/** `Berlin, Germany`: the parts that are known. */
export function placeOf({ city, state, country }: Place): string | null {
  const parts = [city, state, country].filter((part) => part)
  return parts.length === 0 ? null : parts.join(', ')
}
