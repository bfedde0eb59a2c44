import { readdir, readFile } from 'node:fs/promises'

const PAGE_BYTES = 4096
/** Places in what follows the name of a process in /proc/<pid>/stat. */
const [GROUP, RESIDENT] = [2, 21]

/** Bytes that the processes of a group hold, shared ones counted for each; 0 where the system does not say. */
export async function groupMemory(group: number): Promise<number> {
  const names = await readdir('/proc').catch(() => [])
  const sizes = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => {
        // A process may end while it is looked at.
        const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return Number(fields[GROUP]) === group ? Number(fields[RESIDENT]) * PAGE_BYTES : 0
      }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
