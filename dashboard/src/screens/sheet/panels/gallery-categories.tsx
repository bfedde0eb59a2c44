import { classNames } from '../../../ui/class-names.ts'
import { CATEGORIES } from './action-gallery.ts'

type Props = { name: string; chosen: string; onChoose: (category: string) => void }

/** The choice of a category: a column beside the list, or a row above it on a small screen. */
export function GalleryCategories({ name, chosen, onChoose }: Props) {
  return (
    <fieldset
      aria-label="Category"
      className="flex shrink-0 gap-1 max-md:-mx-1 max-md:overflow-x-auto max-md:p-1 md:w-[140px] md:flex-col md:overflow-y-auto md:p-1"
    >
      {[['', 'All actions'] as const, ...CATEGORIES].map(([id, label]) => (
        <label
          key={id}
          className={classNames(
            'relative shrink-0 cursor-pointer rounded-md px-2 py-1 whitespace-nowrap text-muted hover:bg-hover',
            'has-focus-visible:outline-2 has-focus-visible:outline-focus',
            'max-md:border md:border-0',
            chosen === id && 'bg-selected font-medium text-accent-text hover:bg-selected',
          )}
        >
          <input
            type="radio"
            className="sr-only"
            name={name}
            value={id}
            checked={chosen === id}
            onChange={() => onChoose(id)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
