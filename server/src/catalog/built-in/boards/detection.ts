import type { WebDocument } from '../web/document.ts'
import { ashby } from './ashby.ts'
import type { Board } from './board.ts'
import { greenhouse } from './greenhouse.ts'
import { lever, leverEurope } from './lever.ts'
import { recruitee } from './recruitee.ts'
import { smartRecruiters } from './smartrecruiters.ts'

export const BOARDS: readonly Board[] = [greenhouse, lever, leverEurope, ashby, smartRecruiters, recruitee]

export type BoardName = { board: Board; company: string }

/**
 * Returns the boards that a page links to or embeds: board by board, and for each board in the order of the page's text.
 */
export function findBoards(html: string): BoardName[] {
  const text = html.replaceAll('\\/', '/')
  const found = BOARDS.flatMap((board) =>
    board.signs.flatMap((sign) =>
      [...text.matchAll(sign)].map(([, company = '']) => ({ board, company: decode(company) })),
    ),
  )
  const seen = new Set<string>()
  return found.filter(({ board, company }) => {
    const key = `${board.id}:${company.toLowerCase()}`
    return !seen.has(key) && seen.add(key)
  })
}

export const findBoardsOf = ({ html, url }: WebDocument): BoardName[] => findBoards(`${url.href}\n${html}`)

/** Reads `greenhouse:acme` or the address of a board. Returns null if the text is neither. */
export function readBoardName(text: string): BoardName | null {
  const bare = text.trim()
  const [, id, company] = /^([a-z_ ]+)[:/]\s*([^\s:/]+)$/i.exec(bare) ?? []
  const wanted = id?.trim().toLowerCase().replace(' ', '_')
  const board = BOARDS.find((known) => known.id === wanted || known.name.toLowerCase() === wanted)
  if (board !== undefined && company !== undefined) return { board, company }
  const address = /^https?:\/\//i.test(bare) ? bare : `https://${bare}`
  return findBoards(address)[0] ?? null
}

function decode(company: string): string {
  return company.replaceAll('%20', ' ')
}
