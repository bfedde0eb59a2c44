/**
 * Returns the longest processor time of this thread between two turns of the event loop while some work is
 * done.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  await new Promise((resolve) => setImmediate(resolve))
  let before = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.threadCpuUsage()
  }
  // Timers are run in every turn that is longer than this. Looking in all turns would keep a processor busy.
  const timer = setInterval(look, 1)
  await work()
  clearInterval(timer)
  look()
  return longest
}

/**
 * Returns the better result of two tries, because garbage collection adds time that is not the work's own.
 */
export async function heldMs(work: () => Promise<unknown>, allowedMs: number): Promise<number> {
  const first = await longestTurnMs(work)
  return first < allowedMs ? first : Math.min(first, await longestTurnMs(work))
}
