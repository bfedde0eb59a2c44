import { createStore } from 'zustand'

/** A change that can be taken back. Both may be refused by the server. */
export type Step = { name: string; undo: () => Promise<void>; redo: () => Promise<void> }

const MAX_STEPS = 100

type History = {
  held: Set<Promise<unknown>>
  past: readonly Step[]
  future: readonly Step[]
  push: (step: Step) => void
  /** A change that becomes a step once the server has it: what is undone meanwhile is that one, not the one before it. */
  hold: (change: Promise<unknown>) => void
  /** What was changed before this page was opened; nothing when something has been changed since. */
  seed: (past: readonly Step[], future: readonly Step[]) => void
  undo: () => Promise<void>
  redo: () => Promise<void>
}

export const createHistory = () =>
  createStore<History>((set, get) => ({
    held: new Set(),
    past: [],
    future: [],
    push: (step) => set(({ past }) => ({ past: [...past, step].slice(-MAX_STEPS), future: [] })),
    hold: (change) => {
      get().held.add(change)
      const release = () => void get().held.delete(change)
      change.then(release, release)
    },
    seed: (past, future) =>
      set((now) => (now.past.length + now.future.length === 0 ? { past, future } : now)),
    undo: async () => {
      await Promise.allSettled(get().held)
      const step = get().past.at(-1)
      if (step === undefined) return
      set(({ past, future }) => ({ past: past.slice(0, -1), future: [...future, step] }))
      await step.undo()
    },
    redo: async () => {
      await Promise.allSettled(get().held)
      const step = get().future.at(-1)
      if (step === undefined) return
      set(({ past, future }) => ({ past: [...past, step], future: future.slice(0, -1) }))
      await step.redo()
    },
  }))
