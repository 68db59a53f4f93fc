/** `cast sessions`: what is kept, and what was said. */
import { DeleteCommand } from './delete.ts';
import { ExportCommand } from './export.ts';
import { ImportCommand } from './import.ts';
import { ListCommand } from './list.ts';
import { PinCommand, RenameCommand, UnpinCommand } from './describe.ts';
import { SearchCommand } from './search.ts';
import { ShareCommand } from './share.ts';
import { ShowCommand } from './show.ts';

export const sessionCommands = [
  ListCommand,
  ShowCommand,
  SearchCommand,
  RenameCommand,
  PinCommand,
  UnpinCommand,
  DeleteCommand,
  ExportCommand,
  ShareCommand,
  ImportCommand,
];
