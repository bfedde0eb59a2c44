import { classNames } from '../../../ui/class-names.ts'
import {
  Building2,
  Check,
  Filter,
  Globe,
  type Icon,
  Mail,
  Plug,
  Sparkles,
  Table2,
  Users,
  Variable,
} from '../../../ui/icons.tsx'
import { type Offer, printNeeds, printPrice, printProviders } from './action-gallery.ts'

const ICONS: Readonly<Record<string, Icon>> = {
  people: Users,
  companies: Building2,
  ai: Sparkles,
  web: Globe,
  data: Variable,
  flow: Filter,
  crm: Plug,
  messages: Mail,
  records: Table2,
}

type Props = { id: string; offer: Offer; search: string; isActive: boolean; onChoose: () => void }

/** An action in the gallery: what it does, what it needs and asks, its price, and whether a key for it is there. */
export function GalleryOption({ id, offer, search, isActive, onChoose }: Props) {
  const { entry, reason } = offer
  const CategoryIcon = ICONS[entry.category] ?? Variable
  const needs = printNeeds(entry)
  const providers = printProviders(entry, search)
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      data-action={entry.action_id}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classNames(
        'flex cursor-pointer scroll-my-8 gap-3 px-3 py-2 hover:bg-hover',
        isActive && 'bg-selected hover:bg-selected',
      )}
    >
      <CategoryIcon aria-hidden className="mt-0.5 shrink-0 text-muted" />
      <span className="flex min-w-0 grow flex-col">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{entry.name}</span>
          <span className="ml-auto flex shrink-0 items-baseline gap-2 text-12 text-muted max-md:ml-0 max-md:basis-full">
            {printPrice(entry)}
            <KeyState entry={entry} />
          </span>
        </span>
        {reason !== undefined && <span className="text-12 text-accent-text">{reason}</span>}
        <span className="line-clamp-2 text-12 text-muted">{entry.description}</span>
        {(needs !== '' || providers !== '') && (
          <span className="mt-0.5 line-clamp-1 text-11 text-muted max-md:line-clamp-2">
            {needs !== '' && (
              <>
                <span className="font-medium">Needs</span> {needs}
              </>
            )}
            {needs !== '' && providers !== '' && ' · '}
            {providers !== '' && (
              <>
                <span className="font-medium">Asks</span> {providers}
              </>
            )}
          </span>
        )}
      </span>
    </div>
  )
}

function KeyState({ entry: { has_key, needs_key } }: Pick<Offer, 'entry'>) {
  if (!has_key) {
    return <span className="rounded bg-out-of-credits-bg px-1 text-11 text-out-of-credits">Needs key</span>
  }
  return needs_key ? (
    <span className="flex items-center gap-0.5 text-11">
      <Check aria-hidden width={12} height={12} />
      Key added
    </span>
  ) : null
}
