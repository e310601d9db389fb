"""A run's own folders, made before anything of it is carried out."""

from pathlib import Path


def make_folders(*folders: Path) -> str | None:
    """Make a run's folders; answer what is in the way."""
    for each in folders:
        try:
            each.mkdir(0o700)
            each.chmod(0o700)  # a umask can take bits from us, too
        except FileExistsError:
            if not each.is_dir():
                return f"{each} has to be a folder, and is none: move it aside."
        except OSError as error:
            return f"The folder {each} cannot be made: {error.strerror or type(error).__name__}."
    return None
