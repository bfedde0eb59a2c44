/** The limits of one run. */
export type AgentLimits = {
  /** The number of turns of the model. */
  steps: number
  searches: number
  pages: number
  /** The number of bytes of pages, as they were sent. */
  bytes: number
  /** The number of tokens of the model, input and output. */
  tokens: number
  /**
   * The milliseconds until the agent stops its research and writes the answer. Writing has the time that is left until
   * totalMs.
   */
  searchMs: number
  /** The milliseconds that the whole run may take. */
  totalMs: number
}

export const DEFAULT_LIMITS: AgentLimits = {
  steps: 12,
  searches: 12,
  pages: 16,
  bytes: 30_000_000,
  tokens: 400_000,
  searchMs: 100_000,
  totalMs: 150_000,
}

export type Spending = { steps: number; searches: number; pages: number; bytes: number; tokens: number }

export type Budget = {
  spent: Spending
  add(part: Partial<Spending>): void
  /** Returns the name of the limit that is reached, or null while there is room for another step. */
  over(): string | null
  remainingMs(): number
}

export function createBudget(limits: AgentLimits, startedAt = performance.now()): Budget {
  const spent: Spending = { steps: 0, searches: 0, pages: 0, bytes: 0, tokens: 0 }
  const elapsed = () => performance.now() - startedAt
  return {
    spent,
    add(part) {
      for (const key of Object.keys(part) as (keyof Spending)[]) spent[key] += part[key] ?? 0
    },
    over() {
      if (elapsed() >= limits.searchMs) return 'time'
      if (spent.steps >= limits.steps) return 'steps'
      if (spent.tokens >= limits.tokens) return 'tokens'
      if (spent.bytes >= limits.bytes) return 'bytes'
      if (spent.pages >= limits.pages) return 'pages'
      return spent.searches >= limits.searches ? 'searches' : null
    },
    remainingMs: () => limits.totalMs - elapsed(),
  }
}
