import { readdir, readFile } from 'node:fs/promises'

const PAGE_BYTES = 4096
/** The positions of two fields after the process name in /proc/<pid>/stat. */
const [GROUP, RESIDENT] = [2, 21]

export type HeldMemory = { pid: number; bytes: number }

/** Returns the group of a process, or null if the system does not tell, or if it is the group of this process. */
export async function groupOf(pid: number): Promise<number | null> {
  const group = (await statOf(pid))[GROUP]
  return group === undefined || group === (await statOf('self'))[GROUP] ? null : Number(group)
}

/** Returns the memory of each process of a group. Shared pages count for each of them. */
export async function groupMemory(group: number): Promise<HeldMemory[]> {
  const names = await readdir('/proc').catch(() => [])
  const processes = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => ({ pid: Number(name), fields: await statOf(name) })),
  )
  return processes
    .filter(({ fields }) => Number(fields[GROUP]) === group)
    .map(({ pid, fields }) => ({ pid, bytes: Number(fields[RESIDENT]) * PAGE_BYTES }))
}

async function statOf(pid: number | string): Promise<string[]> {
  // A process may end while it is being read.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat === null ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
