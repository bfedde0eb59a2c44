export type NamedParameters = {
  text: string
  /** In the order in which their values are sent. */
  names: readonly string[]
}

/** A statement whose parameters have names, as in `@rows::uuid[]`, with their places instead. One that it does without has none. */
export function nameParameters(statement: string): NamedParameters {
  const names: string[] = []
  const placeOf = (name: string) => {
    const known = names.indexOf(name)
    return known === -1 ? names.push(name) : known + 1
  }
  const text = statement.replaceAll(/@([a-z]\w*)/gi, (_, name: string) => `$${placeOf(name)}`)
  return { text, names }
}
