type Place = {
  city?: string | null | undefined
  state?: string | null | undefined
  country?: string | null | undefined
}

/** Joins the known parts, as in `Berlin, Germany`. */
export function placeOf({ city, state, country }: Place): string | null {
  const parts = [city, state, country].filter((part) => part)
  return parts.length === 0 ? null : parts.join(', ')
}
