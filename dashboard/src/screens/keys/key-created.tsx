import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/text-field.tsx'

/** The dialog that shows a new key. The key cannot be read again. */
export function KeyCreated({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Key created"
      description="Copy the key now. It will not be shown again."
      closeLabel="Done"
      footer={<CopyButton label="Copy key" text={() => secret} />}
    >
      <TextField label="Key" value={secret} onFocus={({ target }) => target.select()} />
    </Dialog>
  )
}
