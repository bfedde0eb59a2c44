import { useState } from 'react'
import { Badge } from '../../../ui/badge.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { SearchBox } from '../../../ui/text-field.tsx'
import { isConnected } from '../account-choice.tsx'
import type { SourceType } from '../source-form.ts'

const GROUPS: readonly { name: string; has: (slug: string) => boolean }[] = [
  {
    name: 'Websites, files and APIs',
    has: (slug) => /_(website|csv_url|api|s3)$/.test(slug) && !isTracking(slug),
  },
  { name: 'Your tools', has: (slug) => slug.startsWith('import_') },
  { name: 'Find companies and people', has: (slug) => /^(find|search)_/.test(slug) },
  { name: 'Keep track of', has: isTracking },
]
const OTHER = 'Others'

function isTracking(slug: string): boolean {
  return slug.startsWith('track_')
}

const findGroup = ({ source_id }: SourceType) => GROUPS.find(({ has }) => has(source_id))?.name ?? OTHER

/** The first step: a gallery of the types of sources, found by name, description or provider. */
export function PickStep({
  types,
  chosen,
  onChoose,
}: {
  types: readonly SourceType[]
  chosen: string
  onChoose: (sourceId: string) => void
}) {
  const [words, setWords] = useState('')
  const shown = types.filter((type) => matches(type, words))
  const groups = Map.groupBy(shown, findGroup)
  return (
    <div className="flex flex-col gap-4">
      <SearchBox
        label="Search sources"
        placeholder="HubSpot, CSV, job postings…"
        value={words}
        onChange={setWords}
        className="md:max-w-[320px]"
      />
      {shown.length === 0 && <p role="status">{`No source matches “${words.trim()}”.`}</p>}
      {[...GROUPS.map(({ name }) => name), OTHER].map((name) => {
        const group = groups.get(name)
        if (group === undefined) return null
        return (
          <section key={name} aria-label={name} className="flex flex-col gap-2">
            <h2 className="text-12 font-medium text-muted">{name}</h2>
            <ul className="grid grid-cols-1 gap-2 sm:grid-cols-2 lg:grid-cols-3">
              {group.map((type) => (
                <li key={type.source_id} className="flex">
                  <TypeCard
                    type={type}
                    isChosen={type.source_id === chosen}
                    onChoose={() => onChoose(type.source_id)}
                  />
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function matches({ name, description, accounts }: SourceType, words: string): boolean {
  const text = [name, description, ...accounts.map((account) => account.name)].join(' ').toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function TypeCard({
  type,
  isChosen,
  onChoose,
}: {
  type: SourceType
  isChosen: boolean
  onChoose: () => void
}) {
  const { name, description } = type
  return (
    <div
      className={classNames(
        'relative flex w-full flex-col gap-1 rounded-lg border p-3 hover:bg-hover',
        isChosen && 'border-accent',
      )}
    >
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={onChoose}
        // The whole card can be clicked.
        className="text-left font-medium after:absolute after:inset-0 after:rounded-lg"
      >
        {name}
      </button>
      <p className="text-12 text-muted">{firstSentence(description)}</p>
      {!isConnected(type) && (
        <span className="mt-auto pt-1">
          <Badge tone="warning">needs an account</Badge>
        </span>
      )}
    </div>
  )
}

const firstSentence = (text: string) => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
