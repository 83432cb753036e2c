// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC165} from "@openzeppelin/contracts/interfaces/IERC165.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {BitMaps} from "@openzeppelin/contracts/utils/structs/BitMaps.sol";

/// @dev ERC-7572.
interface IContractURI {
    event ContractURIUpdated();

    function contractURI() external view returns (string memory);
}

/// @title An ERC-721 collection whose tokens each remember the author of their prompt, and are revealed later.
/// @notice Token ids run 1, 2, 3, ... without a gap and nothing is ever burned, so a reader of
/// BatchMinted can prove that it has seen every mint.
/// @dev Two roles, never one account: the owner's key can lie in a safe, the keeper's is in a running program. All that
/// the keeper can do is to reveal tokens and to lock what it has revealed; the owner can replace it at any time.
contract GliskCollection is IERC4906, IContractURI, ERC721, ERC2981, Ownable {
    using BitMaps for BitMaps.BitMap;

    /// @notice Why a token was left as it is.
    enum SkipReason {
        Missing,
        Locked,
        Unchanged,
        Unrevealed
    }

    error QuantityOutOfRange(uint256 quantity, uint256 max);
    error ZeroPromptAuthor();
    error WrongPayment(uint256 paid, uint256 due);
    error WithdrawFailed();
    error NotTheKeeper(address account);
    error OwnerCannotBeKeeper(address account);
    error LengthsDiffer(uint256 tokenIds, uint256 uris);

    /// @notice One mint call: the tokens startTokenId .. startTokenId + quantity - 1.
    /// @dev startTokenId always equals startTokenId + quantity of the event before.
    event BatchMinted(
        address indexed minter,
        address indexed promptAuthor,
        uint256 indexed startTokenId,
        uint256 quantity,
        uint256 totalPaid
    );

    /// @notice A token of a revealTokens call that kept the URI it had; all others have their new one.
    event RevealSkipped(uint256 indexed tokenId, SkipReason reason);

    /// @notice The token's URI is what it is for good.
    event TokenLocked(uint256 indexed tokenId);

    /// @notice A token of a lockTokens call that was not locked by it.
    event LockSkipped(uint256 indexed tokenId, SkipReason reason);

    event KeeperChanged(address indexed keeper);

    /// @notice The most tokens one call can mint; bounds the gas of the loop in mint.
    uint256 public constant MAX_BATCH = 50;

    // Given by ERC-4906, which has no function that one could be computed from.
    bytes4 private constant ERC4906_ID = 0x49064906;

    /// @notice Wei per token.
    uint256 public immutable mintPrice;

    /// @notice The id the next minted token will get; one more than the number of tokens.
    uint256 public nextTokenId = 1;

    /// @notice Who may reveal and lock; nobody until the owner says who.
    address public keeper;

    /// @notice What tokenURI answers for a token that is not revealed yet.
    string public placeholderURI;

    /// @inheritdoc IContractURI
    string public contractURI;

    mapping(uint256 tokenId => address) private _promptAuthors;
    mapping(uint256 tokenId => string) private _tokenURIs;
    BitMaps.BitMap private _locked;

    modifier onlyKeeper() {
        if (msg.sender != keeper) revert NotTheKeeper(msg.sender);
        _;
    }

    constructor(string memory name_, string memory symbol_, address owner_, uint256 mintPrice_)
        ERC721(name_, symbol_)
        Ownable(owner_)
    {
        mintPrice = mintPrice_;
    }

    /// @notice Mints `quantity` tokens to the caller for exactly quantity * mintPrice wei.
    /// @dev _mint, not _safeMint: _safeMint calls back into a minter that is a contract, which could
    /// then mint again inside this call, and its BatchMinted would come before ours with a later
    /// startTokenId. The caller asked for the tokens itself, so the callback would protect nobody else.
    function mint(address promptAuthor, uint256 quantity) external payable {
        if (quantity == 0 || quantity > MAX_BATCH) revert QuantityOutOfRange(quantity, MAX_BATCH);
        if (promptAuthor == address(0)) revert ZeroPromptAuthor();
        uint256 due = quantity * mintPrice;
        if (msg.value != due) revert WrongPayment(msg.value, due);

        uint256 start = nextTokenId;
        uint256 end = start + quantity;
        nextTokenId = end;
        for (uint256 tokenId = start; tokenId < end; ++tokenId) {
            _promptAuthors[tokenId] = promptAuthor;
            _mint(msg.sender, tokenId);
        }
        emit BatchMinted(msg.sender, promptAuthor, start, quantity, msg.value);
    }

    /// @notice The wallet whose prompt is drawn for the token; reverts when there is no such token.
    function tokenPromptAuthor(uint256 tokenId) external view returns (address) {
        _requireOwned(tokenId);
        return _promptAuthors[tokenId];
    }

    /// @notice Gives each token its URI. May be repeated, with other URIs too, until a token is locked.
    /// @dev What cannot or need not be done is skipped and told: a keeper that sends a batch again after an answer
    /// was lost must not lose the other tokens of the batch to the one that went through.
    function revealTokens(uint256[] calldata tokenIds, string[] calldata uris) external onlyKeeper {
        if (tokenIds.length != uris.length) revert LengthsDiffer(tokenIds.length, uris.length);

        uint256 first; // of the run of consecutive ids that is to be told
        uint256 next; // the id that would continue it; 0 while there is none
        for (uint256 i = 0; i < tokenIds.length; ++i) {
            uint256 tokenId = tokenIds[i];
            if (!_reveal(tokenId, uris[i])) continue;
            if (tokenId != next) {
                _tellUpdate(first, next);
                first = tokenId;
            }
            next = tokenId + 1;
        }
        _tellUpdate(first, next);
    }

    /// @notice Freezes the URI of each token for good.
    /// @dev A token that is not revealed is skipped: it would show the placeholder for ever.
    function lockTokens(uint256[] calldata tokenIds) external onlyKeeper {
        for (uint256 i = 0; i < tokenIds.length; ++i) {
            uint256 tokenId = tokenIds[i];
            if (!_exists(tokenId)) {
                emit LockSkipped(tokenId, SkipReason.Missing);
            } else if (_locked.get(tokenId)) {
                emit LockSkipped(tokenId, SkipReason.Locked);
            } else if (bytes(_tokenURIs[tokenId]).length == 0) {
                emit LockSkipped(tokenId, SkipReason.Unrevealed);
            } else {
                _locked.set(tokenId);
                emit TokenLocked(tokenId);
            }
        }
    }

    /// @notice Whether the token's URI can never change again.
    function isLocked(uint256 tokenId) external view returns (bool) {
        return _locked.get(tokenId);
    }

    /// @notice The revealed URI, or else the placeholder; reverts when there is no such token.
    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        string memory uri = _tokenURIs[tokenId];
        return bytes(uri).length == 0 ? placeholderURI : uri;
    }

    /// @notice Names the keeper in place of the one before; the zero address means nobody.
    function setKeeper(address keeper_) external onlyOwner {
        if (keeper_ == owner()) revert OwnerCannotBeKeeper(keeper_);
        keeper = keeper_;
        emit KeeperChanged(keeper_);
    }

    function setPlaceholderURI(string calldata uri) external onlyOwner {
        placeholderURI = uri;
        // A revealed token in this range is looked at once more for nothing: cheaper than finding out which are not.
        _tellUpdate(1, nextTokenId);
    }

    function setContractURI(string calldata uri) external onlyOwner {
        contractURI = uri;
        emit ContractURIUpdated();
    }

    /// @notice What a marketplace is asked to pay on a sale, in hundredths of a percent of the price.
    function setRoyalty(address receiver, uint96 basisPoints) external onlyOwner {
        _setDefaultRoyalty(receiver, basisPoints);
    }

    /// @notice Sends the whole balance to the owner.
    function withdraw() external onlyOwner {
        // call, not transfer: an owner that is a multisig needs more than the 2300 gas of transfer.
        (bool sent,) = owner().call{value: address(this).balance}("");
        if (!sent) revert WithdrawFailed();
    }

    function supportsInterface(bytes4 interfaceId) public view override(IERC165, ERC721, ERC2981) returns (bool) {
        return interfaceId == ERC4906_ID || interfaceId == type(IContractURI).interfaceId
            || super.supportsInterface(interfaceId);
    }

    /// @dev Whether the token has a new URI now.
    function _reveal(uint256 tokenId, string calldata uri) private returns (bool) {
        if (!_exists(tokenId)) {
            emit RevealSkipped(tokenId, SkipReason.Missing);
        } else if (_locked.get(tokenId)) {
            emit RevealSkipped(tokenId, SkipReason.Locked);
        } else if (_isSame(_tokenURIs[tokenId], uri)) {
            emit RevealSkipped(tokenId, SkipReason.Unchanged);
        } else {
            _tokenURIs[tokenId] = uri;
            return true;
        }
        return false;
    }

    /// @dev Nothing is burned, so this needs no look at the token itself.
    function _exists(uint256 tokenId) private view returns (bool) {
        return tokenId != 0 && tokenId < nextTokenId;
    }

    /// @dev The lengths first: for a token that has no URI yet, that is all there is to read.
    function _isSame(string storage stored, string calldata given) private view returns (bool) {
        return bytes(stored).length == bytes(given).length && keccak256(bytes(stored)) == keccak256(bytes(given));
    }

    /// @dev Of the tokens first .. next - 1, if there are any.
    function _tellUpdate(uint256 first, uint256 next) private {
        if (next <= first) return;
        if (next - first == 1) emit MetadataUpdate(first);
        else emit BatchMetadataUpdate(first, next - 1);
    }

    /// @dev The other way to become both.
    function _transferOwnership(address newOwner) internal override {
        if (newOwner != address(0) && newOwner == keeper) revert OwnerCannotBeKeeper(newOwner);
        super._transferOwnership(newOwner);
    }
}
