/** Shorter values are words like any other: cutting them would garble texts and hide nothing. */
const SHORTEST = 4

/** The text with every secret cut out, as it is and as addresses and JSON spell it. */
export function redact(text: string, secrets: Iterable<string>): string {
  let cut = text
  const spellings = new Set([...secrets].filter((secret) => secret.length >= SHORTEST).flatMap(spell))
  // Longest first: a secret may hold another.
  for (const spelling of [...spellings].sort((a, b) => b.length - a.length)) {
    cut = cut.replaceAll(spelling, '[redacted]')
  }
  return cut
}

function spell(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1)]
}
