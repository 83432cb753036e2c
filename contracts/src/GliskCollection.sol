// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title An ERC-721 collection whose tokens each remember the author of their prompt.
/// @notice Token ids run 1, 2, 3, ... without a gap and nothing is ever burned, so a reader of
/// BatchMinted can prove that it has seen every mint.
contract GliskCollection is ERC721, Ownable {
    error QuantityOutOfRange(uint256 quantity, uint256 max);
    error ZeroPromptAuthor();
    error WrongPayment(uint256 paid, uint256 due);
    error WithdrawFailed();

    /// @notice One mint call: the tokens startTokenId .. startTokenId + quantity - 1.
    /// @dev startTokenId always equals startTokenId + quantity of the event before.
    event BatchMinted(
        address indexed minter,
        address indexed promptAuthor,
        uint256 indexed startTokenId,
        uint256 quantity,
        uint256 totalPaid
    );

    /// @notice The most tokens one call can mint; bounds the gas of the loop in mint.
    uint256 public constant MAX_BATCH = 50;

    /// @notice Wei per token.
    uint256 public immutable mintPrice;

    /// @notice The id the next minted token will get; one more than the number of tokens.
    uint256 public nextTokenId = 1;

    mapping(uint256 tokenId => address) private _promptAuthors;

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

    /// @notice Sends the whole balance to the owner.
    function withdraw() external onlyOwner {
        // call, not transfer: an owner that is a multisig needs more than the 2300 gas of transfer.
        (bool sent,) = owner().call{value: address(this).balance}("");
        if (!sent) revert WithdrawFailed();
    }
}
